#include "ergodic/core/permutation.hpp"

#include <numeric>
#include <utility>

namespace ergodic {

void permute(std::span<std::uint32_t> order, const Draw& draw, std::uint32_t row) {
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[draw.below(i, row, static_cast<std::uint32_t>(i))]);
  }
}

std::vector<std::uint32_t> permutation(std::size_t count, const Draw& draw) {
  std::vector<std::uint32_t> order(count);
  permute(order, draw, 0);
  return order;
}

}  // namespace ergodic
