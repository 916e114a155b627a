#include "ergodic/data/damage.hpp"

#include <cassert>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace ergodic {

Bits damaged(const Bits& rows, double share, const Draw& draw) {
  assert(share >= 0.0 && share <= 1.0);
  Bits out = rows;
  const std::size_t cols = rows.cols();
  const auto flips = static_cast<std::size_t>(std::floor(share * static_cast<double>(cols) + 0.5));
  std::vector<std::size_t> order(cols);
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t k = 0; k < flips; ++k) {  // a shuffle, only as far as it is needed
      const std::size_t other = k + draw.below(cols - k, static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(k));
      std::swap(order[k], order[other]);
      out.set(r, order[k], !rows.get(r, order[k]));
    }
  }
  return out;
}

}  // namespace ergodic
