#include "ergodic/data/batches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "ergodic/core/permutation.hpp"

namespace ergodic {
namespace {

std::vector<std::uint32_t> numbers_up_to(std::size_t count) {
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

std::vector<std::vector<std::uint32_t>> batches_of(Minibatches& batches, std::uint64_t updates) {
  std::vector<std::vector<std::uint32_t>> out;
  for (std::uint64_t u = 0; u < updates; ++u) out.emplace_back(batches.at(u).begin(), batches.at(u).end());
  return out;
}

TEST(Minibatches, EachEpochCoversEachRowOnce) {
  Minibatches batches(103, 10, Key{7});
  EXPECT_EQ(batches.per_epoch(), 11u);
  std::vector<std::vector<std::uint32_t>> orders;
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<std::uint32_t> order;
    for (std::uint64_t b = 0; b < batches.per_epoch(); ++b) {
      const std::uint64_t update = epoch * batches.per_epoch() + b;
      EXPECT_EQ(batches.epoch_of(update), epoch);
      const auto rows = batches.at(update);
      EXPECT_EQ(rows.size(), b + 1 < batches.per_epoch() ? 10u : 3u);
      order.insert(order.end(), rows.begin(), rows.end());
    }
    orders.push_back(order);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, numbers_up_to(103));
  }
  EXPECT_NE(orders[0], orders[1]);
  EXPECT_NE(orders[1], orders[2]);
}

TEST(Minibatches, ABatchThatDividesTheRowsLeavesNoShortOne) {
  Minibatches batches(20, 5, Key{7});
  EXPECT_EQ(batches.per_epoch(), 4u);
  for (std::uint64_t u = 0; u < 8; ++u) EXPECT_EQ(batches.at(u).size(), 5u);
}

TEST(Minibatches, ABatchLargerThanTheDataTakesAllRows) {
  Minibatches batches(6, 100, Key{7});
  EXPECT_EQ(batches.per_epoch(), 1u);
  EXPECT_EQ(batches.at(4).size(), 6u);
}

TEST(Minibatches, ArePureFunctionsOfKeyAndUpdateInAnyOrder) {
  constexpr std::uint64_t kUpdates = 40;
  Minibatches forward(23, 5, Key{7}), jumping(23, 5, Key{7}), other(23, 5, Key{8});
  const auto expected = batches_of(forward, kUpdates);
  for (const std::uint32_t u : permutation(kUpdates, Key{1}.at(Purpose::kTest))) {
    EXPECT_TRUE(std::ranges::equal(jumping.at(u), expected[u])) << "update " << u;
  }
  EXPECT_NE(batches_of(other, kUpdates), expected);
}

TEST(WeightedMinibatches, HaveRowsAsOftenAsTheirWeightsSay) {
  constexpr std::size_t kRows = 50, kBatch = 20, kEpochs = 2000;
  std::vector<double> weights;
  for (std::size_t r = 0; r < kRows; ++r) weights.push_back(r % 10 == 4 ? 0.0 : 1.0 / static_cast<double>(1 + r % 7));
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  Minibatches batches(kRows, kBatch, Key{7}, weights);
  std::vector<double> sums(kRows);
  for (std::uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    std::vector<double> counts(kRows);
    for (std::uint64_t b = 0; b < batches.per_epoch(); ++b) {
      for (const std::uint32_t r : batches.at(epoch * batches.per_epoch() + b)) ++counts.at(r);
    }
    for (std::size_t r = 0; r < kRows; ++r) {
      ASSERT_LT(std::abs(counts[r] - kRows * weights[r] / total), 1.0) << "row " << r;
      sums[r] += counts[r];
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    // Rounded up with the probability of its fraction, independently in each epoch.
    const double share = kRows * weights[r] / total, fraction = share - std::floor(share);
    EXPECT_NEAR(sums[r], kEpochs * share, 4.0 * std::sqrt(kEpochs * fraction * (1.0 - fraction)) + 1e-9) << "row " << r;
  }
}

TEST(WeightedMinibatches, ABatchHasItsRowsInRandomOrder) {
  // One row has the weight of three: of four places it has three, and each is free equally often.
  Minibatches batches(4, 4, Key{9}, std::vector<double>{3.0, 1.0, 0.0, 0.0});
  constexpr std::uint64_t kUpdates = 40000;
  std::array<double, 4> counts{};
  for (std::uint64_t u = 0; u < kUpdates; ++u) {
    const auto rows = batches.at(u);
    ++counts.at(static_cast<std::size_t>(std::find(rows.begin(), rows.end(), 1u) - rows.begin()));
  }
  double chi_square = 0.0;
  for (const double count : counts) chi_square += std::pow(count - kUpdates / 4.0, 2) / (kUpdates / 4.0);
  EXPECT_LT(chi_square, 16.27);  // the 0.999 quantile for 3 degrees of freedom
}

TEST(WeightedMinibatches, EpochsAreAsLongAsWithoutWeights) {
  const std::vector<double> weights(23, 0.5);
  Minibatches weighted(23, 5, Key{7}, weights), plain(23, 5, Key{7});
  EXPECT_EQ(weighted.per_epoch(), plain.per_epoch());
  for (std::uint64_t u = 0; u < 12; ++u) EXPECT_EQ(weighted.at(u).size(), plain.at(u).size());
}

TEST(WeightedMinibatches, ArePureFunctionsOfKeyAndUpdateInAnyOrder) {
  constexpr std::uint64_t kUpdates = 40;
  const std::vector<double> weights(23, 0.5);
  Minibatches forward(23, 5, Key{7}, weights), jumping(23, 5, Key{7}, weights), other(23, 5, Key{8}, weights);
  const auto expected = batches_of(forward, kUpdates);
  for (const std::uint32_t u : permutation(kUpdates, Key{1}.at(Purpose::kTest))) {
    EXPECT_TRUE(std::ranges::equal(jumping.at(u), expected[u])) << "update " << u;
  }
  EXPECT_NE(batches_of(other, kUpdates), expected);
}

}  // namespace
}  // namespace ergodic
