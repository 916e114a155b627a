#include "ergodic/core/random.hpp"

#include "ergodic/core/elementary.hpp"

namespace ergodic {

void Draw::words(std::uint32_t row, std::uint32_t first_index, std::span<Words> out) const {
  for (Words& block : out) block = words(row, first_index++);
}

namespace {
std::uint64_t first_64_bits(const Words& w) { return (std::uint64_t{w[1]} << 32) | w[0]; }
}  // namespace

double Draw::uniform(const Words& words) { return static_cast<double>(first_64_bits(words) >> 11) * 0x1p-53; }

std::uint64_t Draw::below(std::uint64_t bound, std::uint32_t row, std::uint32_t index) const {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{first_64_bits(words(row, index))} * bound) >> 64);
}

double Draw::normal(std::uint32_t row, std::uint32_t index) const {
  const std::uint64_t grid = first_64_bits(words(row, index)) >> 12;
  return normal_quantile((static_cast<double>(grid) + 0.5) * 0x1p-52);
}

}  // namespace ergodic
