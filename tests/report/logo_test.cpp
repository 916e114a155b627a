#include "ergodic/report/logo.hpp"

#include <gtest/gtest.h>

#include <array>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

/// The height of what is drawn in the middle of a site of the first line.
std::size_t ink_of_site(const Image& image, std::size_t site) {
  std::size_t out = 0;
  const std::size_t x = 40 + 17 * site + 8;
  for (std::size_t y = 22; y < 22 + 100; ++y) out += image.pixels[3 * (y * image.width + x)] < 240 ? 1 : 0;
  return out;
}

TEST(SequenceLogos, AreAsHighAsASiteIsInformative) {
  Logo logo{"x", Matrix<double>(3, 4)};
  logo.frequencies(0, 1) = 1.0;                                       // two bits of two
  for (std::size_t a = 0; a < 4; ++a) logo.frequencies(1, a) = 0.25;  // none
  logo.frequencies(2, 1) = logo.frequencies(2, 3) = 0.5;              // one
  const Image image = sequence_logos(std::array{logo}, "TTTT");       // whose middle is inked from top to bottom
  EXPECT_EQ(ink_of_site(image, 0), 100u);
  EXPECT_EQ(ink_of_site(image, 1), 0u);
  EXPECT_EQ(ink_of_site(image, 2), 50u);
}

TEST(SequenceLogos, HaveAsManyLinesAsNeeded) {
  const auto height = [](std::size_t sites) {
    Logo logo{"", Matrix<double>(sites, 2)};
    for (std::size_t s = 0; s < sites; ++s) logo.frequencies(s, 0) = 1.0;
    return sequence_logos(std::array{logo}, "AB").height;
  };
  EXPECT_EQ(height(60), height(1));
  EXPECT_EQ(height(61), 2 * height(1));
  EXPECT_EQ(height(159), 3 * height(1));
}

/// Whether a number stands below a site of the first line.
bool is_numbered(const Image& image, std::size_t site) {
  for (std::size_t y = 22 + 100 + 6; y < 22 + 100 + 6 + 7; ++y) {
    for (std::size_t x = 40 + 17 * site; x < 40 + 17 * (site + 1); ++x) {
      if (image.pixels[3 * (y * image.width + x)] < 240) return true;
    }
  }
  return false;
}

TEST(SequenceLogos, CountSitesFromOne) {
  Logo logo{"", Matrix<double>(20, 2)};
  for (std::size_t s = 0; s < 20; ++s) logo.frequencies(s, 0) = 1.0;
  const Image image = sequence_logos(std::array{logo}, "AB");
  for (std::size_t s = 0; s < 20; ++s) EXPECT_EQ(is_numbered(image, s), s == 0 || s == 9 || s == 19) << s;
}

TEST(SequenceLogos, NeedANameForEachLetter) {
  const Logo logo{"", Matrix<double>(3, 4)};
  EXPECT_THROW(sequence_logos(std::array{logo}, "ABC"), UsageError);
}

}  // namespace
}  // namespace ergodic
