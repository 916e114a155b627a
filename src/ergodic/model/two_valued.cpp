#include "ergodic/model/two_valued.hpp"

#include <algorithm>

#include "ergodic/core/elementary.hpp"
#include "ergodic/kernels/activation.hpp"
#include "ergodic/kernels/coin.hpp"

namespace ergodic {

void two_valued_means(Levels levels, const LayerFields& at, std::span<float> out) {
  const double gap = levels.gap();
  for (std::size_t j = 0; j < out.size(); ++j) {
    out[j] = static_cast<float>(levels.low + gap * sigmoid(gap * at.fields[j]));
  }
}

void two_valued_means(Levels levels, const FloatFields& at, std::span<float> out) {
  const float gap = levels.gap();
  for (std::size_t j = 0; j < out.size(); ++j) out[j] = gap * at.fields[j];
  apply_sigmoid(out);
  if (levels == Levels{0.0f, 1.0f}) return;
  for (float& value : out) value = levels.low + gap * value;
}

void two_valued_draw(Levels levels, const LayerFields& at, const DrawTarget& to) {
  const auto first = static_cast<std::uint32_t>(to.first_unit);
  flip_coins(
      to.draw, to.chain, first, first + static_cast<std::uint32_t>(at.fields.size()),
      [&](std::uint32_t unit) { return sigmoid(levels.gap() * at.fields[unit - first]); },
      [&](std::uint32_t unit, bool high) { to.out.bits().set(to.row, unit, high); });
}

void two_valued_draw_given(const DrawGiven& call) {
  sample(call.given, call.map, call.draw, call.first_chain, call.out, call.context);
}

void two_valued_fields(Levels levels, std::span<const double> means, double margin, std::span<double> out) {
  for (std::size_t k = 0; k < out.size(); ++k) {
    const double p = std::clamp((means[k] - levels.low) / levels.gap(), margin, 1.0 - margin);
    out[k] = portable_log(p / (1.0 - p)) / levels.gap();
  }
}

}  // namespace ergodic
