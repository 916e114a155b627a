#include "ergodic/data/batches.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "ergodic/core/permutation.hpp"

namespace ergodic {
namespace {

constexpr std::uint8_t kWeightedStream = 1;  // of shuffling: stream 0 orders the rows of an epoch

}  // namespace

Minibatches::Minibatches(std::size_t rows, std::size_t batch, Key key, std::span<const double> weights)
    : rows_(rows), batch_(batch), key_(key), cumulative_(weights.size()) {
  assert(weights.empty() || weights.size() == rows);
  std::partial_sum(weights.begin(), weights.end(), cumulative_.begin());
}

std::span<const std::uint32_t> Minibatches::at(std::uint64_t update) {
  const std::size_t begin = static_cast<std::size_t>(update % per_epoch()) * batch_;
  const std::size_t count = std::min(batch_, rows_ - begin);
  const std::uint64_t epoch = epoch_of(update);
  if (epoch != order_epoch_) {
    order_ = order_of(epoch);
    order_epoch_ = epoch;
  }
  return std::span<const std::uint32_t>(order_).subspan(begin, count);
}

std::vector<std::uint32_t> Minibatches::order_of(std::uint64_t epoch) const {
  std::vector<std::uint32_t> out = permutation(rows_, key_.at(Purpose::kShuffle, epoch));
  if (cumulative_.empty()) return out;
  // Systematic sampling: points at equal distances, the first of them at random, on the line of all weights.
  const double shift = key_.at(Purpose::kShuffle, epoch, kWeightedStream).uniform(0, 0);
  for (std::uint32_t& k : out) {
    const double point = (k + shift) / static_cast<double>(rows_) * cumulative_.back();
    // The last row takes what is left, so that no rounding can lead beyond it.
    const auto row = std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, point);
    k = static_cast<std::uint32_t>(row - cumulative_.begin());
  }
  return out;
}

}  // namespace ergodic
