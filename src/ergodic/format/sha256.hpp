// SHA-256: tells any change of a file's content (NIST FIPS 180-4, 2015).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ergodic {

class Sha256 {
 public:
  void add(std::span<const std::byte> bytes);
  /// The digest of all that was added so far: 64 lower-case hexadecimal digits.
  std::string hex() const;

 private:
  static constexpr std::size_t kBlock = 64;

  void compress(const std::byte* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, kBlock> pending_{};  ///< the start of a block that is not yet full
  std::uint64_t length_ = 0;                 ///< bytes added
};

std::string sha256_hex(std::span<const std::byte> bytes);

}  // namespace ergodic
