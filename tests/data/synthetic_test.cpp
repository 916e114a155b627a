#include "ergodic/data/synthetic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace ergodic {
namespace {

/// How often each row of bits stands in the set, as a text of zeros and ones.
std::map<std::string, int> counts_of(const Dataset& data) {
  std::map<std::string, int> counts;
  for (std::size_t r = 0; r < data.rows(); ++r) {
    std::string text;
    for (std::size_t i = 0; i < data.units(); ++i) text += data.bits().get(r, i) ? '1' : '0';
    ++counts[text];
  }
  return counts;
}

void check_bars_and_stripes(std::size_t n, std::size_t rows, std::size_t distinct) {
  const Dataset data = bars_and_stripes(n);
  EXPECT_EQ(data.rows(), rows);
  EXPECT_EQ(data.units(), n * n);
  EXPECT_EQ(data.shape, (PictureShape{n, n}));
  const auto counts = counts_of(data);
  EXPECT_EQ(counts.size(), distinct);
  for (const auto& [text, count] : counts) {
    const bool plain = text == std::string(n * n, '0') || text == std::string(n * n, '1');
    EXPECT_EQ(count, plain ? 2 : 1) << text;
  }
}

TEST(BarsAndStripes, HasEachPictureOnceAndThePlainOnesTwice) {
  check_bars_and_stripes(3, 16, 14);
  check_bars_and_stripes(4, 32, 30);
}

TEST(BarsAndStripes, OfOneUnitIsBothPicturesTwice) { check_bars_and_stripes(1, 4, 2); }

TEST(BarsAndStripes, LabelsTellColumnsFromRows) {
  const std::size_t n = 4;
  const Dataset data = bars_and_stripes(n);
  EXPECT_EQ(std::count(data.labels.begin(), data.labels.end(), 0), 16);
  EXPECT_EQ(std::count(data.labels.begin(), data.labels.end(), 1), 16);
  for (std::size_t r = 0; r < data.rows(); ++r) {
    for (std::size_t y = 0; y < n; ++y) {
      for (std::size_t x = 0; x < n; ++x) {
        const std::size_t first_of_its_line = data.labels[r] == 0 ? x : y * n;
        EXPECT_EQ(data.bits().get(r, y * n + x), data.bits().get(r, first_of_its_line));
      }
    }
  }
}

TEST(ShiftingBars, HaveOneUnitOnAtEachPlace) {
  const Dataset data = shifting_bars(70);
  EXPECT_EQ(data.rows(), 70u);
  EXPECT_EQ(data.shape, (PictureShape{1, 70}));
  for (std::size_t r = 0; r < 70; ++r) {
    EXPECT_EQ(data.labels[r], static_cast<int>(r));
    for (std::size_t i = 0; i < 70; ++i) EXPECT_EQ(data.bits().get(r, i), i == r);
  }
}

TEST(DigitSheet, IsTheSameEachTime) {
  const Dataset a = digit_sheet(20, 0), b = digit_sheet(20, 0);
  EXPECT_EQ(a.grey(), b.grey());
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.rows(), 20u);
  EXPECT_EQ(a.units(), 784u);
  EXPECT_EQ(a.shape, (PictureShape{28, 28}));
}

TEST(DigitSheet, ALongerOneBeginsWithTheShorter) {
  const Dataset shorter = digit_sheet(5, 0), longer = digit_sheet(9, 0);
  EXPECT_TRUE(std::equal(shorter.grey().elements().begin(), shorter.grey().elements().end(), longer.grey().data()));
}

TEST(DigitSheet, StreamsDiffer) {
  const Dataset a = digit_sheet(20, 0), b = digit_sheet(20, 1);
  for (std::size_t r = 0; r < 20; ++r) {
    EXPECT_FALSE(std::ranges::equal(a.grey().row(r), b.grey().row(r))) << "row " << r;
  }
}

TEST(DigitSheet, LevelsAreBytesSpreadToFullGrey) {
  const Dataset data = digit_sheet(20, 0);
  const auto levels = data.grey().elements();
  EXPECT_TRUE(std::all_of(levels.begin(), levels.end(), [](Grey g) { return g % 257 == 0; }));
  EXPECT_EQ(*std::max_element(levels.begin(), levels.end()), kFullGrey);
}

}  // namespace
}  // namespace ergodic
