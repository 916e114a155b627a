#include "ergodic/core/ars.hpp"

#include <gtest/gtest.h>

namespace ergodic {
namespace {

// Rounds 1 and 10 of the example in FIPS 197, appendix B; the standard writes bytes, the first of a word being its
// lowest.
TEST(Aes, RoundsAreThoseOfTheStandard) {
  EXPECT_EQ(
      aes_round({0xbee33d19, 0x2be2f4a0, 0x2a8dc69a, 0x0848f8e9}, {0x17fefaa0, 0xb12c5488, 0x3939a323, 0x05766c2a}),
      (Words{0xf27f9ca4, 0x2b359f68, 0x43ea5b6b, 0x49506a02}));
  EXPECT_EQ(aes_last_round({0x1ef240eb, 0x84382e59, 0xe713a18b, 0xd242c31b},
                           {0xa8f914d0, 0x8925eec9, 0xc80c3fe1, 0xa60c63b6}),
            (Words{0x1d842539, 0xfb09dc02, 0x978511dc, 0x320b6a19}));
}

// Some of the known answers for ars4x32 with 7 rounds published with Random123 (kat_vectors): single bits, bytes and
// digits of pi as counters, keys in the low lane and in the high one.
TEST(Ars, ReproducesThePublishedVectors) {
  struct Known {
    Words counter, key, answer;
  };
  const Known known[] = {
      {{0x00000001, 0, 0, 0}, {0x00000001, 0, 0, 0}, {0x3523162b, 0xdc14d20c, 0x79184077, 0x72184193}},
      {{0, 0, 0, 0x80000000}, {0x00000001, 0, 0, 0}, {0xa2154453, 0xe90a0384, 0x0e3816c0, 0xbdb8b8e0}},
      {{0x886a3f24, 0xd308a385, 0x2e8a1913, 0x44737003},
       {0x00000001, 0, 0, 0},
       {0xbb4006c7, 0x33dbc0db, 0x1ea0a1c9, 0x7f9541e3}},
      {{0x223809a4, 0xd0319f29, 0x98fa2e08, 0x896c4eec},
       {0x00000100, 0, 0, 0},
       {0x62163ea3, 0x73e12817, 0xe531a348, 0x50c03c1e}},
      {{0, 0x00ff0000, 0, 0}, {0, 0, 0, 0xff000000}, {0x081925c6, 0x522ccff9, 0xa82cdebd, 0x2f9e8fc5}},
      {{0x886a3f24, 0xd308a385, 0x2e8a1913, 0x44737003},
       {0, 0, 0, 0x00800000},
       {0x133d5d06, 0x256a441d, 0x70bf8e82, 0x6cd6089d}},
      {{0xe6212845, 0x7713d038, 0xcf6654be, 0x6c0ce934},
       {0, 0, 0, 0x00008000},
       {0xf8585f35, 0x792755dd, 0xf3a1ad8d, 0xa0fbb9b5}},
  };
  for (const auto& [counter, key, answer] : known) {
    EXPECT_EQ(ars(counter, ars_keys(key)), answer);
    EXPECT_EQ(ars_by_table(counter, ars_keys(key)), answer);
  }
}

}  // namespace
}  // namespace ergodic
