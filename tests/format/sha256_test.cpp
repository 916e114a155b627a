#include "ergodic/format/sha256.hpp"

#include <gtest/gtest.h>

#include "ergodic/format/bytes.hpp"
#include "format/damage.hpp"

namespace ergodic {
namespace {

// NIST's examples for FIPS 180-4.
TEST(Sha256, PublishedVectors) {
  EXPECT_EQ(sha256_hex({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex(as_bytes("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(as_bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(as_bytes("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                                "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu")),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(sha256_hex(as_bytes(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, ThePiecesDoNotMatter) {
  const std::string text(200, 'x');
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const auto whole = as_bytes(std::string_view(text).substr(0, size));
    for (const std::size_t piece : {1u, 3u, 63u, 64u, 65u}) {
      Sha256 sha;
      for (std::size_t at = 0; at < size; at += piece) sha.add(whole.subspan(at, std::min(piece, size - at)));
      EXPECT_EQ(sha.hex(), sha256_hex(whole));
      EXPECT_EQ(sha.hex(), sha256_hex(whole)) << "asking must not change the answer";
    }
  }
}

}  // namespace
}  // namespace ergodic
