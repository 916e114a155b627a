#include "ergodic/estimator/two_sample.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "boltzmann_machines.hpp"
#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

/// Independent normal units, a new set for each step.
State normals(std::size_t rows, std::size_t units, std::uint64_t step, float shift = 0.0f) {
  Matrix<float> out(rows, units);
  const Draw draw = Key{1}.at(Purpose::kTest, step);
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint32_t i = 0; i < units; ++i) out(r, i) = shift + static_cast<float>(draw.normal(r, i));
  }
  return State(std::move(out));
}

State coins(std::size_t rows, std::size_t units, std::uint64_t step) {
  State out(rows, units, Bernoulli::kLevels);
  const Draw draw = Key{2}.at(Purpose::kTest, step);
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint32_t i = 0; i < units; ++i) out.bits().set(r, i, draw.uniform(r, i) < 0.3);
  }
  return out;
}

/// Straight from the definition.
double share_near_own(const State& own, const State& other) {
  const auto distance = [](const State& a, std::size_t r, const State& b, std::size_t s) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.units(); ++i) sum += std::pow(double{a.value(r, i)} - double{b.value(s, i)}, 2);
    return sum;
  };
  double sum = 0.0;
  for (std::size_t r = 0; r < own.chains(); ++r) {
    double here = 1e300, there = 1e300;
    for (std::size_t s = 0; s < own.chains(); ++s) {
      if (s != r) here = std::min(here, distance(own, r, own, s));
      there = std::min(there, distance(own, r, other, s));
    }
    sum += there > here ? 1.0 : there == here ? 0.5 : 0.0;
  }
  return sum / static_cast<double>(own.chains());
}

TEST(NeighbourTest, IsWhatItsDefinitionSays) {
  for (std::uint64_t step = 0; step < 5; ++step) {
    for (const auto& [a, b] : {std::pair{coins(23, 7, step), coins(23, 7, step + 5)},
                               std::pair{coins(40, 70, step), coins(40, 70, step + 5)},
                               std::pair{normals(31, 3, step), normals(31, 3, step + 5, 0.5f)}}) {
      const NeighbourTest found = *neighbour_test(a, b, {});
      EXPECT_DOUBLE_EQ(found.data.value, share_near_own(a, b));
      EXPECT_DOUBLE_EQ(found.samples.value, share_near_own(b, a));
    }
  }
}

TEST(NeighbourTest, EqualLawsGiveAHalf) {
  // But for a bias of 1 / (4 N), far below the error.
  const auto check = [](const State& a, const State& b) {
    const NeighbourTest found = *neighbour_test(a, b, {});
    for (const Mean& share : {found.data, found.samples}) {
      EXPECT_NEAR(share.value, 0.5, 4.0 * share.standard_error + 1.0 / static_cast<double>(4 * a.chains()));
      EXPECT_LT(share.standard_error, 0.06);
    }
  };
  check(normals(600, 5, 1), normals(600, 5, 2));
  check(coins(600, 200, 1), coins(600, 200, 2));
  // Exact draws of machines, many of which are the same state.
  for (const auto type : test::kUnitTypes) {
    const test::BoltzmannTruth truth(test::random_boltzmann(make_layer(type, 12), dense_graph(12), 0.3, 4));
    check(test::rows_at(truth, test::exact_draws(truth, 600, 5)),
          test::rows_at(truth, test::exact_draws(truth, 600, 6)));
  }
}

TEST(NeighbourTest, ItsStandardErrorIsTheSpreadOfRepetitions) {
  // In few dimensions and in many, where some rows are nearest to many others, and with many ties. The deviation of 150
  // repetitions is known to 1 / sqrt(298) = 6 %, and the mean error far better.
  const auto check = [](const auto& drawn, double most) {
    constexpr std::size_t kTimes = 150;
    std::vector<double> values, errors;
    for (std::uint64_t k = 0; k < kTimes; ++k) {
      const NeighbourTest found = *neighbour_test(drawn(2 * k + 10), drawn(2 * k + 11), {});
      values.push_back(found.data.value);
      errors.push_back(found.data.standard_error);
    }
    const double deviation = mean_with_error(values).standard_error * std::sqrt(double{kTimes});
    const double ratio = mean_with_error(errors).value / deviation;
    EXPECT_GT(ratio, 1.0 - 4.0 * 0.06);
    EXPECT_LT(ratio, most + 4.0 * 0.06);
  };
  check([](std::uint64_t step) { return normals(100, 2, step); }, 1.0);
  check([](std::uint64_t step) { return normals(100, 30, step); }, 1.0);
  check([](std::uint64_t step) { return coins(100, 100, step); }, 1.0);
  // A tie of three rows counts half, not two thirds or one, which spreads less than the error says.
  check([](std::uint64_t step) { return coins(100, 8, step); }, 1.5);
}

TEST(NeighbourTest, CopiesGiveNothingAndFarSamplesAll) {
  const State data = normals(100, 6, 1);
  const NeighbourTest copies = *neighbour_test(data, data, {});
  EXPECT_EQ(copies.data.value, 0.0);
  EXPECT_EQ(copies.samples.value, 0.0);
  EXPECT_EQ(copies.data.standard_error, 0.0);
  const NeighbourTest far = *neighbour_test(data, normals(100, 6, 2, 100.0f), {});
  EXPECT_EQ(far.data.value, 1.0);
  EXPECT_EQ(far.samples.value, 1.0);
  // One sample again and again, which is in the middle of the data: it is its own neighbour, and no data row's.
  State same = data;
  for (std::size_t r = 0; r < 100; ++r) std::ranges::fill(same.reals().row(r), 0.0f);
  EXPECT_EQ(neighbour_test(data, same, {})->samples.value, 1.0);
}

TEST(NeighbourTest, ThreadsDoNotChangeABitAndItStopsWhenAsked) {
  const State a = coins(700, 100, 1), b = coins(700, 100, 2);
  const NeighbourTest alone = *neighbour_test(a, b, {});
  Threads threads(3);
  const NeighbourTest together = *neighbour_test(a, b, Context{&threads});
  EXPECT_EQ(together.data.value, alone.data.value);
  EXPECT_EQ(together.data.standard_error, alone.data.standard_error);
  EXPECT_EQ(together.samples.value, alone.samples.value);
  struct Impatient : Observer {
    void progress(const Progress& p) override { last = p; }
    bool stop_requested() override { return last.done > 0; }
    Progress last;
  } observer;
  EXPECT_FALSE(neighbour_test(a, b, Context{nullptr, &observer}).has_value());
  EXPECT_EQ(observer.last.done, 512u);
  EXPECT_EQ(observer.last.total, 2u * 1400);
  expect_parts(message_of<UsageError>([&] { (void)neighbour_test(coins(9, 5, 1), coins(9, 5, 2), {}); }),
               {"10 rows", "found 9"});
}

TEST(DistributionGap, IsTheLargestDifferenceOfTheCumulativeDistributions) {
  // After 2, three of four numbers of the one and one of five of the other.
  const std::vector<double> a{1.0, 2.0, 2.0, 5.0}, b{2.0, 3.0, 4.0, 5.0, 6.0};
  EXPECT_DOUBLE_EQ(distribution_gap(a, b).distance, 0.75 - 0.2);
  EXPECT_DOUBLE_EQ(distribution_gap(b, a).distance, 0.75 - 0.2);
  EXPECT_EQ(distribution_gap(a, a).distance, 0.0);
  EXPECT_EQ(distribution_gap(std::vector{1.0, 2.0}, std::vector{3.0}).distance, 1.0);
  EXPECT_NEAR(distribution_gap(a, b).critical, 1.628 * std::sqrt(9.0 / 20.0), 1e-3);
}

TEST(DistributionGap, EqualLawsExceedTheCriticalDistanceInOnePercent) {
  std::size_t above = 0;
  for (std::uint64_t k = 0; k < 2000; ++k) {
    const State a = normals(150, 1, 1000 + 2 * k), b = normals(250, 1, 1001 + 2 * k);
    const std::vector<double> x(a.reals().elements().begin(), a.reals().elements().end());
    const std::vector<double> y(b.reals().elements().begin(), b.reals().elements().end());
    const DistributionGap gap = distribution_gap(x, y);
    above += gap.distance > gap.critical ? 1 : 0;
  }
  // At most 20 of 2000 are expected, with a deviation of 4.5: for so few numbers the limit law is on the safe side.
  EXPECT_GT(above, 0u);
  EXPECT_LT(above, 20u + 4 * 5);
}

}  // namespace
}  // namespace ergodic
