#include "ergodic/core/random.hpp"

#include "ergodic/core/elementary.hpp"

namespace ergodic {

Words philox(Words counter, std::uint64_t key) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53u;
  constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57u;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9u;
  constexpr std::uint32_t kWeyl1 = 0xBB67AE85u;
  auto key0 = static_cast<std::uint32_t>(key);
  auto key1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key0, static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key1, static_cast<std::uint32_t>(product0)};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return counter;
}

namespace {
std::uint64_t first_64_bits(const Words& w) { return (std::uint64_t{w[1]} << 32) | w[0]; }
}  // namespace

double Draw::uniform(std::uint32_t row, std::uint32_t index) const {
  return static_cast<double>(first_64_bits(words(row, index)) >> 11) * 0x1p-53;
}

std::uint64_t Draw::below(std::uint64_t bound, std::uint32_t row, std::uint32_t index) const {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{first_64_bits(words(row, index))} * bound) >> 64);
}

double Draw::normal(std::uint32_t row, std::uint32_t index) const {
  const std::uint64_t grid = first_64_bits(words(row, index)) >> 12;
  return normal_quantile((static_cast<double>(grid) + 0.5) * 0x1p-52);
}

}  // namespace ergodic
