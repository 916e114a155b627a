#include "ergodic/core/random.hpp"

#include "ergodic/core/elementary.hpp"

namespace ergodic {

namespace {

/// The bijection on several counters at once, which lets the compiler use vector registers: word k of counter l is
/// counter[k][l].
template <std::size_t kLanes>
void philox_rounds(std::uint32_t (&counter)[4][kLanes], std::uint64_t key) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53u;
  constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57u;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9u;
  constexpr std::uint32_t kWeyl1 = 0xBB67AE85u;
  auto key0 = static_cast<std::uint32_t>(key);
  auto key1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      const std::uint64_t product0 = kMultiplier0 * counter[0][l];
      const std::uint64_t product1 = kMultiplier1 * counter[2][l];
      counter[0][l] = static_cast<std::uint32_t>(product1 >> 32) ^ counter[1][l] ^ key0;
      counter[1][l] = static_cast<std::uint32_t>(product1);
      counter[2][l] = static_cast<std::uint32_t>(product0 >> 32) ^ counter[3][l] ^ key1;
      counter[3][l] = static_cast<std::uint32_t>(product0);
    }
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
}

}  // namespace

Words philox(Words counter, std::uint64_t key) {
  std::uint32_t lanes[4][1] = {{counter[0]}, {counter[1]}, {counter[2]}, {counter[3]}};
  philox_rounds(lanes, key);
  return {lanes[0][0], lanes[1][0], lanes[2][0], lanes[3][0]};
}

void Draw::words(std::uint32_t row, std::uint32_t first_index, std::span<Words> out) const {
  constexpr std::size_t kLanes = 8;
  for (std::size_t begin = 0; begin < out.size(); begin += kLanes) {
    std::uint32_t lanes[4][kLanes];
    for (std::size_t l = 0; l < kLanes; ++l) {
      lanes[0][l] = first_index + static_cast<std::uint32_t>(begin + l);
      lanes[1][l] = row;
      lanes[2][l] = step_low_;
      lanes[3][l] = tag_;
    }
    philox_rounds(lanes, seed_);
    const std::size_t count = out.size() - begin < kLanes ? out.size() - begin : kLanes;
    for (std::size_t l = 0; l < count; ++l) out[begin + l] = {lanes[0][l], lanes[1][l], lanes[2][l], lanes[3][l]};
  }
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
