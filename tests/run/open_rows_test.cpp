#include "ergodic/run/open_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "boltzmann_machines.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/machine/rbm.hpp"
#include "run/listener.hpp"

namespace ergodic {
namespace {

constexpr Key kKey{3};
constexpr std::size_t kPairs = 100;

/// A neural energy of three real units, whose chains must all keep the same ones.
std::unique_ptr<Machine> neural_machine() {
  Matrix<float> points(200, 3);
  const Draw draw = kKey.at(Purpose::kDamage);
  for (std::size_t r = 0; r < points.rows(); ++r) {
    for (std::size_t i = 0; i < 3; ++i) {
      points(r, i) = static_cast<float>(draw.uniform(static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(i)));
    }
  }
  return kind_named("neural").make({{"layers", Counts{4}}}, Dataset{"points", points}, kKey, {});
}

/// Rows of zeros. Each second one knows its first unit alone, the others their first and last.
OpenRows rows_of_two_masks() {
  OpenRows out{State(Matrix<float>(2 * kPairs, 3)), Bits(2 * kPairs, 3)};
  for (std::size_t r = 0; r < 2 * kPairs; ++r) {
    out.known.set(r, 0, true);
    out.known.set(r, 2, r % 2 == 1);
  }
  return out;
}

TEST(DrawOpen, RowsWithDifferentMasksHaveTheirOwnRandomNumbers) {
  const auto machine = neural_machine();
  ASSERT_FALSE(machine->masks_by_chain());
  const auto found = draw_open(*machine, rows_of_two_masks(), {2}, kKey, {});
  ASSERT_TRUE(found.has_value());
  const State drawn = machine->visible_of(found->chains);
  double a = 0.0, b = 0.0, aa = 0.0, bb = 0.0, ab = 0.0;
  for (std::size_t k = 0; k < kPairs; ++k) {
    const double x = drawn.value(2 * k, 1), y = drawn.value(2 * k + 1, 1);
    a += x / kPairs, b += y / kPairs, aa += x * x / kPairs, bb += y * y / kPairs, ab += x * y / kPairs;
  }
  // The correlation of independent pairs has a standard error of 1 / sqrt(pairs); four of them.
  EXPECT_LT(std::abs((ab - a * b) / std::sqrt((aa - a * a) * (bb - b * b))), 4.0 / std::sqrt(double{kPairs}));
}

TEST(DrawOpen, ARowMayHaveManyMoreDrawsThanThereAreRows) {
  const RbmMachine machine(test::random_machine(Bernoulli{70}, Bernoulli{4}, 0.7, 1));
  constexpr std::size_t kDraws = 500000;  // what lies behind one row in memory ends long before
  OpenRows open{State(1, 70, Bernoulli::kLevels), Bits(1, 70)};
  for (std::size_t i = 0; i < 60; ++i) {
    open.rows.bits().set(0, i, i % 3 == 0);
    open.known.set(0, i, true);
  }
  const auto found = draw_open(machine, open, {2, kDraws}, kKey, {});
  ASSERT_TRUE(found.has_value());
  const State drawn = machine.visible_of(found->chains);
  ASSERT_EQ(drawn.chains(), kDraws);
  for (const std::size_t r : {std::size_t{0}, std::size_t{1}, kDraws - 1}) {
    for (std::size_t i = 0; i < 60; ++i) EXPECT_EQ(drawn.value(r, i), i % 3 == 0 ? 1.0f : 0.0f) << r;
  }
}

TEST(DrawOpen, OneBarIsOfAllMasks) {
  test::Listener listener;
  const auto machine = neural_machine();
  ASSERT_TRUE(draw_open(*machine, rows_of_two_masks(), {20}, kKey, Context{nullptr, &listener}).has_value());
  EXPECT_EQ(listener.stages.back().unit, "");
  EXPECT_EQ(listener.progresses, 40u);
  EXPECT_EQ(listener.steps_back, 0u);
}

}  // namespace
}  // namespace ergodic
