#include "ergodic/data/dataset.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ergodic {
namespace {

std::vector<std::uint32_t> numbers_up_to(std::size_t count) {
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

/// Rows whose bits spell their own number, which is also their label.
Dataset numbered_bits(std::size_t rows, std::size_t units) {
  Dataset data{"numbered", Bits(rows, units)};
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < units; ++i) data.bits().set(r, i, (r >> (i % 32)) & 1u);
    data.labels.push_back(static_cast<int>(r));
  }
  return data;
}

Dataset numbered_grey(std::size_t rows, std::size_t units) {
  Dataset data{"numbered", Matrix<Grey>(rows, units), {2, units / 2}};
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < units; ++i) data.grey()(r, i) = static_cast<Grey>(1000 * r + i);
    data.labels.push_back(static_cast<int>(r));
  }
  return data;
}

Dataset half_grey(std::size_t rows, std::size_t units) {
  Dataset data{"half", Matrix<Grey>(rows, units)};
  std::fill(data.grey().elements().begin(), data.grey().elements().end(), Grey{32768});
  return data;
}

TEST(Dataset, RowsAndUnitsAreThoseOfItsValues) {
  EXPECT_EQ(Dataset{}.rows(), 0u);
  const Dataset bits{"bits", Bits(3, 70)};
  EXPECT_EQ(bits.rows(), 3u);
  EXPECT_EQ(bits.units(), 70u);
  EXPECT_EQ(bits.bytes().size(), 3u * 2u * 8u);
  EXPECT_FALSE(bits.dynamic() || bits.real());
  const Dataset reals{"reals", Matrix<float>(0, 5)};  // real without any row
  EXPECT_TRUE(reals.real());
  EXPECT_EQ(reals.rows(), 0u);
  EXPECT_EQ(reals.units(), 5u);
  EXPECT_THROW(reals.bits(), std::bad_variant_access);
}

TEST(DrawBits, TurnsOnAsOftenAsTheLevelSays) {
  constexpr std::size_t kUnits = 70, kRows = 100000;
  constexpr std::array<Grey, 7> kLevels{0, 257, 8192, 32768, 60000, 65278, kFullGrey};
  std::vector<Grey> grey(kUnits);
  for (std::size_t i = 0; i < kUnits; ++i) grey[i] = kLevels[i % kLevels.size()];
  std::vector<std::uint32_t> on(kUnits);
  const Draw draw = Key{11}.at(Purpose::kTest);
  std::vector<std::uint64_t> row(Bits::words_for(kUnits));
  for (std::uint32_t r = 0; r < kRows; ++r) {
    draw_bits(grey, draw, r, row);
    for_each_set(row, [&](std::size_t i) {
      ASSERT_LT(i, kUnits);  // the padding stays zero
      ++on[i];
    });
  }
  for (std::size_t i = 0; i < kUnits; ++i) {
    // A share of n draws has the standard error sqrt(p (1 - p) / n): zero for levels 0 and full.
    const double p = grey[i] / double{kFullGrey};
    const double standard_error = std::sqrt(p * (1.0 - p) / kRows);
    EXPECT_NEAR(on[i] / double{kRows}, p, 4.0 * standard_error) << "level " << grey[i] << " at unit " << i;
  }
}

TEST(DrawBits, OverwritesWhatWasThere) {
  const std::vector<Grey> black(3, Grey{0});
  std::vector<std::uint64_t> row{~std::uint64_t{0}};
  draw_bits(black, Key{}.at(Purpose::kTest), 0, row);
  EXPECT_EQ(row[0], 0u);
}

TEST(DrawBits, UnitsAndRowsAreIndependent) {
  constexpr std::size_t kUnits = 64, kRows = 4000;
  const std::vector<Grey> grey(kUnits, Grey{32768});
  const Draw draw = Key{12}.at(Purpose::kTest);
  std::vector<std::uint64_t> row(1);
  std::uint64_t before = 0, beside = 0, above = 0;
  for (std::uint32_t r = 0; r <= kRows; ++r) {
    draw_bits(grey, draw, r, row);
    if (r > 0) {
      beside += static_cast<std::uint64_t>(std::popcount((row[0] ^ (row[0] >> 1)) << 1));
      above += static_cast<std::uint64_t>(std::popcount(row[0] ^ before));
    }
    before = row[0];
  }
  // Fair coins differ from their neighbour half of the time; the standard error of n comparisons is 1/2 sqrt(n).
  constexpr double kBeside = kRows * (kUnits - 1), kAbove = kRows * kUnits;
  EXPECT_NEAR(static_cast<double>(beside) / kBeside, 0.5, 4.0 * 0.5 / std::sqrt(kBeside));
  EXPECT_NEAR(static_cast<double>(above) / kAbove, 0.5, 4.0 * 0.5 / std::sqrt(kAbove));
}

TEST(Gather, KeepsTheOrderAskedFor) {
  const Dataset data = numbered_bits(50, 70);
  const std::vector<std::uint32_t> rows{7, 49, 0, 7};
  const Bits bits = std::get<Bits>(gather(data, rows, Key{1}, 3));
  ASSERT_EQ(bits.rows(), rows.size());
  ASSERT_EQ(bits.cols(), 70u);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    EXPECT_TRUE(std::ranges::equal(bits.row(r), data.bits().row(rows[r]))) << "row " << r;
  }
}

TEST(Gather, BitsAreTheSameInEveryEpoch) {
  const Dataset data = numbered_bits(50, 70);
  const auto rows = numbers_up_to(50);
  EXPECT_EQ(gather(data, rows, Key{1}, 0), gather(data, rows, Key{2}, 9));
}

TEST(Gather, DynamicDataIsDrawnForEachEpoch) {
  const Dataset data = half_grey(20, 100);
  const auto rows = numbers_up_to(20);
  const Values first = gather(data, rows, Key{1}, 0);
  EXPECT_EQ(first, gather(data, rows, Key{1}, 0));
  EXPECT_NE(first, gather(data, rows, Key{1}, 1));
  EXPECT_NE(first, gather(data, rows, Key{2}, 0));
}

TEST(Gather, RowsAreTheSameForAnyNumberOfThreads) {
  constexpr std::size_t kRows = 300, kUnits = 100;  // of several blocks, the last not whole
  for (const Dataset& data : {numbered_bits(kRows, kUnits), half_grey(kRows, kUnits)}) {
    const auto rows = numbers_up_to(kRows);
    const Bits alone = std::get<Bits>(gather(data, rows, Key{1}, 4));
    for (const std::size_t count : {1u, 2u, 3u}) {
      Threads threads(count);
      Bits found(kRows, kUnits);
      gather(data, rows, Key{1}, 4, found, Context{&threads});
      EXPECT_EQ(found, alone) << count << " threads";
    }
  }
}

TEST(Gather, ADrawBelongsToItsRowWhereverItIsAskedFor) {
  const Dataset data = half_grey(20, 100);
  const Bits all = std::get<Bits>(gather(data, numbers_up_to(20), Key{1}, 4));
  const std::vector<std::uint32_t> some{13, 2};
  const Bits picked = std::get<Bits>(gather(data, some, Key{1}, 4));
  EXPECT_TRUE(std::ranges::equal(picked.row(0), all.row(13)));
  EXPECT_TRUE(std::ranges::equal(picked.row(1), all.row(2)));
}

TEST(Select, TakesRowsAndTheirLabels) {
  const std::vector<std::uint32_t> rows{3, 1};
  const Dataset bits = select(numbered_bits(5, 70), rows);
  EXPECT_EQ(bits.rows(), 2u);
  EXPECT_EQ(bits.units(), 70u);
  EXPECT_EQ(bits.labels, (std::vector<int>{3, 1}));
  const Dataset grey = select(numbered_grey(5, 6), rows);
  EXPECT_EQ(grey.shape, (PictureShape{2, 3}));
  EXPECT_EQ(grey.grey()(0, 2), 3002);
  EXPECT_EQ(grey.grey()(1, 2), 1002);
}

TEST(Select, TakesWeightsAndLetters) {
  Dataset data = numbered_bits(5, 70);
  data.letters = 7;
  data.weights = {0.1, 0.2, 0.3, 0.4, 0.5};
  const std::vector<std::uint32_t> rows{3, 1};
  const Dataset taken = select(data, rows);
  EXPECT_EQ(taken.letters, 7u);
  EXPECT_EQ(taken.sites(), 10u);
  EXPECT_EQ(taken.weights, (std::vector<double>{0.4, 0.2}));
  EXPECT_TRUE(select(numbered_bits(5, 70), rows).weights.empty());
}

TEST(EffectiveRows, AreTheSumOfTheWeights) {
  Dataset data = numbered_bits(4, 3);
  EXPECT_EQ(data.effective_rows(), 4.0);
  data.weights = {0.5, 0.5, 1.0, 0.25};
  EXPECT_EQ(data.effective_rows(), 2.25);
}

void check_split(Dataset data, std::size_t count) {
  const Dataset whole = data;
  const Dataset taken = split_off(data, count, Key{5}.at(Purpose::kSplit));
  EXPECT_EQ(taken.rows(), count);
  EXPECT_EQ(data.rows(), whole.rows() - count);
  EXPECT_EQ(data.units(), whole.units());
  EXPECT_EQ(data.shape, whole.shape);
  std::vector<int> seen;
  for (const Dataset* part : {&taken, &std::as_const(data)}) {
    ASSERT_EQ(part->labels.size(), part->rows());
    for (std::size_t r = 0; r < part->rows(); ++r) {
      const auto original = static_cast<std::size_t>(part->labels[r]);
      seen.push_back(part->labels[r]);
      if (whole.dynamic()) {
        EXPECT_TRUE(std::ranges::equal(part->grey().row(r), whole.grey().row(original)));
      } else {
        EXPECT_TRUE(std::ranges::equal(part->bits().row(r), whole.bits().row(original)));
      }
    }
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, whole.labels);  // disjoint and complete: every row is in one part, once
}

TEST(SplitOff, IsDisjointAndCompleteAndLabelsFollowTheirRows) {
  for (const std::size_t count : {0u, 1u, 13u, 40u}) {
    check_split(numbered_bits(40, 70), count);
    check_split(numbered_grey(40, 6), count);
  }
}

TEST(SplitOff, WeightsFollowTheirRows) {
  Dataset data = numbered_bits(40, 6);
  for (int r = 0; r < 40; ++r) data.weights.push_back(r / 64.0);
  const Dataset taken = split_off(data, 13, Key{5}.at(Purpose::kSplit));
  for (const Dataset* part : {&taken, &std::as_const(data)}) {
    ASSERT_EQ(part->weights.size(), part->rows());
    for (std::size_t r = 0; r < part->rows(); ++r) EXPECT_EQ(part->weights[r], part->labels[r] / 64.0);
  }
}

TEST(SplitOff, IsAPureFunctionOfTheDraw) {
  const auto taken = [](std::uint64_t seed) {
    Dataset data = numbered_bits(40, 6);
    return split_off(data, 10, Key{seed}.at(Purpose::kSplit)).labels;
  };
  EXPECT_EQ(taken(1), taken(1));
  EXPECT_NE(taken(1), taken(2));
}

/// Three rows of two numbers, of which two are missing.
Dataset gappy() {
  Dataset data{"gappy", Matrix<float>(3, 2)};
  const float values[] = {1.0f, 0.0f, 0.0f, 2.0f, 5.0f, 8.0f};
  std::copy_n(values, 6, data.reals().elements().begin());
  data.set_missing(0, 1);
  data.set_missing(1, 0);
  return data;
}

TEST(MissingValues, AreCountedAndFollowTheirRows) {
  const Dataset data = gappy();
  EXPECT_FALSE(data.complete());
  EXPECT_EQ(data.missing(), 2u);
  const std::vector<std::uint32_t> rows{2, 0};
  const Dataset chosen = select(data, rows);
  EXPECT_EQ(chosen.missing(), 1u);
  EXPECT_FALSE(chosen.is_known(1, 1));
  EXPECT_TRUE(select(data, std::vector<std::uint32_t>{2}).complete());
  Bits known(2, 2);
  gather_known(data, rows, known);
  EXPECT_EQ(known, chosen.known);
  Dataset rest = data;
  const Dataset taken = split_off(rest, 1, Key{1}.at(Purpose::kSplit));
  EXPECT_EQ(taken.missing() + rest.missing(), 2u);
}

TEST(Dataset, AColumnWithoutANameHasANumberInMessages) {
  Dataset data;
  data.unit_names = {"age", ""};
  EXPECT_EQ(data.column_text(0), "column \"age\"");
  EXPECT_EQ(data.column_text(1), "column 2");
  EXPECT_EQ(data.column_text(2), "column 3");
  data.unit_names[0] = std::string(100, 'x');
  EXPECT_EQ(data.column_text(0), "column \"" + std::string(40, 'x') + "...\"");
}

}  // namespace
}  // namespace ergodic
