#include "ergodic/data/synthetic.hpp"

#include <algorithm>

#include "ergodic/data/digits.hpp"

namespace ergodic {

Dataset bars_and_stripes(std::size_t n) {
  const std::size_t patterns = std::size_t{1} << n;
  Dataset out{"bars-and-stripes", Bits(2 * patterns, n * n), {n, n}};
  for (std::size_t p = 0; p < 2 * patterns; ++p) {
    const bool stripes = p >= patterns;
    for (std::size_t y = 0; y < n; ++y) {
      for (std::size_t x = 0; x < n; ++x) out.bits().set(p, y * n + x, (p >> (stripes ? y : x)) & 1u);
    }
    out.labels.push_back(stripes);
  }
  return out;
}

Dataset shifting_bars(std::size_t n) {
  Dataset out{"shifting-bars", Bits(n, n), {1, n}};
  for (std::size_t r = 0; r < n; ++r) {
    out.bits().set(r, r, true);
    out.labels.push_back(static_cast<int>(r));
  }
  return out;
}

Dataset digit_sheet(std::size_t count, std::uint8_t stream) {
  constexpr std::size_t kSide = 28;
  Dataset out{"digits", Matrix<Grey>(count, kSide * kSide), {kSide, kSide}};
  const Draw draw = Key{}.at(Purpose::kSynthetic, 0, stream);
  for (std::size_t r = 0; r < count; ++r) {
    const Digit digit = draw_digit(draw, static_cast<std::uint32_t>(r));
    std::transform(digit.pixels.begin(), digit.pixels.end(), out.grey().row(r).begin(),
                   [](std::uint8_t p) { return static_cast<Grey>(p * 257u); });
    out.labels.push_back(digit.label);
  }
  return out;
}

}  // namespace ergodic
