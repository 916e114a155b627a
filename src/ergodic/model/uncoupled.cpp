#include "ergodic/model/uncoupled.hpp"

#include <vector>

namespace ergodic {

State draw_uncoupled(const Layer& layer, std::span<const float> bias, const Precision& precision, std::size_t count,
                     const Draw& draw, std::uint64_t first_chain) {
  State out = make_state(layer, count);
  const std::vector<double> fields(bias.begin(), bias.end());
  for (std::size_t r = 0; r < count; ++r) {
    ergodic::draw(layer, {fields, precision}, {draw, static_cast<std::uint32_t>(first_chain + r), out, r});
  }
  return out;
}

}  // namespace ergodic
