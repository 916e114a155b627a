// All states of a layer without real units, numbered: the values of its sites are the digits, those of the first site
// being the lowest, each in the base of how many values it has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ergodic/kernels/state.hpp"
#include "ergodic/model/layer.hpp"

namespace ergodic {

class AllStates {
 public:
  /// For layers of fewer than 2^64 states (log2_states).
  explicit AllStates(const Layer& layer);

  std::uint64_t count() const { return count_; }
  /// States [first, first + rows), a row each.
  State states(std::uint64_t first, std::size_t rows) const;

 private:
  std::vector<Site> sites_;
  std::size_t units_;
  Levels levels_;
  std::uint64_t count_ = 1;
};

}  // namespace ergodic
