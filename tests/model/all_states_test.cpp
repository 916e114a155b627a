#include "ergodic/model/all_states.hpp"

#include <gtest/gtest.h>

#include "brute_force.hpp"

namespace ergodic {
namespace {

TEST(AllStates, AreThoseOfTheDefinitionInItsOrder) {
  for (const Layer& layer : test::discrete_layers(4)) {
    const AllStates all(layer);
    const State expected = test::all_states(layer);
    ASSERT_EQ(all.count(), expected.chains()) << name_of(layer);
    EXPECT_EQ(all.states(0, expected.chains()), expected) << name_of(layer);
    EXPECT_EQ(all.states(5, 3), expected.rows(5, 3)) << name_of(layer);
    for (std::size_t s = 0; s < expected.chains(); ++s) EXPECT_EQ(test::index_of(expected, s, layer), s);
  }
}

}  // namespace
}  // namespace ergodic
