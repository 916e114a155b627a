#include "ergodic/model/all_states.hpp"

#include <cassert>

namespace ergodic {

AllStates::AllStates(const Layer& layer) : sites_(sites(layer)), units_(units_of(layer)), levels_(levels_of(layer)) {
  assert(log2_states(layer) < 64.0);
  for (const Site& site : sites_) count_ *= site.values();
}

State AllStates::states(std::uint64_t first, std::size_t rows) const {
  State out(rows, units_, levels_);
  for (std::size_t r = 0; r < rows; ++r) {
    std::uint64_t rest = first + r;
    for (const Site& site : sites_) {
      const std::uint64_t value = rest % site.values();
      rest /= site.values();
      if (site.size > 1) {
        out.bits().set(r, site.first + value, true);
      } else if (value == 1) {
        out.bits().set(r, site.first, true);
      }
    }
  }
  return out;
}

}  // namespace ergodic
