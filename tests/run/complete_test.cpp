#include "ergodic/run/complete.hpp"

#include <gtest/gtest.h>

#include "boltzmann_machines.hpp"
#include "ergodic/machine/rbm.hpp"

namespace ergodic {
namespace {

/// Rows of six bits, 0 or 1 each.
State rows_of(const std::vector<std::vector<int>>& rows) {
  State out(rows.size(), 6, Bernoulli::kLevels);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t i = 0; i < 6; ++i) out.bits().set(r, i, rows[r][i] == 1);
  }
  return out;
}

TEST(QualityOfCompletions, ARowWithGapsIsNobodysNeighbour) {
  const RbmMachine machine(test::random_machine(Bernoulli{6}, Bernoulli{4}, 0.7, 1));
  OpenRows open{rows_of({{1, 1, 0, 0, 1, 1}}), Bits(1, 6)};
  for (std::size_t i = 0; i < 4; ++i) open.known.set(0, i, true);
  // The first row of the reference is nearer, but has no value where the other has the right ones.
  Dataset reference{"own", rows_of({{1, 1, 0, 0, 0, 0}, {1, 1, 0, 1, 1, 1}}).bits()};
  reference.set_missing(0, 4);
  reference.set_missing(0, 5);
  const auto found = quality_of_completions(machine, open, Matrix<float>(1, 6), {reference}, Key{1}, {});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->rows, 1u);
  EXPECT_EQ(found->hidden_sites, 2.0);
  EXPECT_EQ(found->machine.error, 1.0);  // zeros were given
  EXPECT_EQ(found->neighbour.error, 0.0);
}

}  // namespace
}  // namespace ergodic
