// Minibatches: which rows each update learns from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ergodic/core/random.hpp"

namespace ergodic {

/// The rows of each update, a pure function of (key, update). Every epoch goes through all rows once, in a new order;
/// the last batch of an epoch has what is left. With weights an epoch is as long, and has each row as often as its
/// weight says, rounded up or down at random: the mean over an epoch is nearly the weighted mean, and so it is on
/// average over a batch.
class Minibatches {
 public:
  /// One weight for each row, none negative and not all zero; or no weights.
  Minibatches(std::size_t rows, std::size_t batch, Key key, std::span<const double> weights = {});

  std::uint64_t per_epoch() const { return (rows_ + batch_ - 1) / batch_; }
  std::uint64_t epoch_of(std::uint64_t update) const { return update / per_epoch(); }
  std::span<const std::uint32_t> at(std::uint64_t update);

 private:
  std::vector<std::uint32_t> order_of(std::uint64_t epoch) const;

  std::size_t rows_;
  std::size_t batch_;
  Key key_;
  std::vector<double> cumulative_;    // weights of the rows up to each, or empty
  std::vector<std::uint32_t> order_;  // of the epoch last asked for
  std::uint64_t order_epoch_ = ~std::uint64_t{0};
};

}  // namespace ergodic
