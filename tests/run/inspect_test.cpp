#include "ergodic/run/inspect.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ergodic/machine/boltzmann.hpp"
#include "ergodic/machine/rbm.hpp"

namespace ergodic {
namespace {

const FactValue* fact(const Inspection& found, const std::string& name) {
  for (const Fact& fact : found.facts) {
    if (fact.name == name) return &fact.value;
  }
  return nullptr;
}

TEST(Inspect, CountsParametersAndTheirRanges) {
  Rbm rbm(Spin{3}, Bernoulli{2});
  rbm.update(
      [](Parameters& p) {
        p["weights"][1] = -2.0f;
        p["weights"][4] = 1.0f;
        p["hidden_bias"][0] = 0.5f;
      },
      {});
  const Inspection found = inspect(RbmMachine(rbm));
  EXPECT_EQ(found.kind, "rbm");
  EXPECT_EQ(found.title, "restricted Boltzmann machine");
  EXPECT_TRUE(found.visible == Layer(Spin{3}));
  EXPECT_EQ(found.parameters, 3u * 2u + 3u + 2u);
  ASSERT_EQ(found.ranges.size(), 3u);
  EXPECT_EQ(found.ranges.at("weights").smallest, -2.0);
  EXPECT_EQ(found.ranges.at("weights").largest, 1.0);
  EXPECT_DOUBLE_EQ(found.ranges.at("weights").root_mean_square, std::sqrt(5.0 / 6.0));
  EXPECT_EQ(found.ranges.at("visible_bias").largest, 0.0);
  ASSERT_NE(fact(found, "hidden"), nullptr);
  EXPECT_EQ(std::get<std::uint64_t>(*fact(found, "hidden")), 2u);
  EXPECT_EQ(std::get<std::string>(*fact(found, "hidden_type")), "bernoulli");
}

TEST(Inspect, AGraphWithoutEdgesHasNoRangeOfCouplings) {
  const Inspection none = inspect(BoltzmannMachine(Boltzmann(Spin{4}, random_graph(4, 0.0, Key{1}))));
  EXPECT_FALSE(none.ranges.contains("couplings"));
  EXPECT_EQ(none.parameters, 4u);
  const Inspection dense = inspect(BoltzmannMachine(Boltzmann(Spin{6}, dense_graph(6), 4)));
  EXPECT_EQ(dense.parameters, 15u + 6u);
  EXPECT_EQ(std::get<std::uint64_t>(*fact(dense, "edges")), 15u);
  EXPECT_EQ(std::get<std::uint64_t>(*fact(dense, "hidden")), 2u);
  EXPECT_EQ(units_of(dense.visible), 4u);
}

}  // namespace
}  // namespace ergodic
