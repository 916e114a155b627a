#include "ergodic/data/in_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

template <class T>
ArrayView view(const std::vector<T>& elements, std::size_t cols) {
  return rows_view(std::span<const T>(elements), elements.size() / cols, cols);
}

std::string text_of(const Dataset& data) {
  std::string text;
  for (std::size_t r = 0; r < data.rows(); ++r) {
    for (std::size_t i = 0; i < data.units(); ++i) text += data.bits().get(r, i) ? '1' : '0';
  }
  return text;
}

TEST(InMemory, ZerosAndOnesOfAnyTypeAreBits) {
  const auto check = []<class T>(T) {
    const Dataset data = dataset_of(view(std::vector<T>{0, 1, 1, 1, 0, 0}, 3));
    EXPECT_EQ(data.name, "data");
    EXPECT_EQ(data.units(), 3u);
    EXPECT_EQ(text_of(data), "011100");
  };
  check(std::uint8_t{}), check(std::int8_t{}), check(std::uint16_t{}), check(std::int16_t{});
  check(std::uint32_t{}), check(std::int32_t{}), check(std::uint64_t{}), check(std::int64_t{});
  check(float{}), check(double{});
  const std::array<bool, 3> flags{true, false, true};
  EXPECT_EQ(text_of(dataset_of(rows_view(std::span<const bool>(flags), 1, 3))), "101");
}

TEST(InMemory, BinarisesByTheOptions) {
  const std::vector<double> grey{0.25, 0.75, 0.5};
  EXPECT_EQ(text_of(dataset_of(view(grey, 3))), "011");
  EXPECT_EQ(text_of(dataset_of(view(grey, 3), {}, {.threshold = 0.6})), "010");
  const Dataset levels = dataset_of(view(grey, 3), {}, {.binarise = Binarise::kDynamic});
  EXPECT_TRUE(std::ranges::equal(levels.grey().row(0), std::vector<Grey>{16384, 49151, 32768}));
}

TEST(InMemory, AnyStridesAreRead) {
  const std::vector<float> elements{1, 2, 3, 4, 5, 6};
  const ValueOptions real{.kind = ValueKind::kReal};
  ArrayView turned = view(elements, 3);  // the transpose of 2 x 3
  std::swap(turned.rows, turned.cols);
  std::swap(turned.row_stride, turned.col_stride);
  EXPECT_TRUE(
      std::ranges::equal(dataset_of(turned, {}, real).reals().elements(), std::vector<float>{1, 4, 2, 5, 3, 6}));
  ArrayView backwards = view(elements, 3);  // the last row first
  backwards.data += backwards.row_stride;
  backwards.row_stride = -backwards.row_stride;
  EXPECT_TRUE(
      std::ranges::equal(dataset_of(backwards, {}, real).reals().elements(), std::vector<float>{4, 5, 6, 1, 2, 3}));
}

TEST(InMemory, LettersAreOneHotAndMayBeMissing) {
  const std::vector<std::int64_t> letters{2, -1, 0, 1};
  const Dataset data = dataset_of(view(letters, 2), {}, {.kind = ValueKind::kLetters, .missing = true});
  EXPECT_EQ(data.letters, 3u);
  EXPECT_EQ(data.missing(), 1u);
  EXPECT_EQ(text_of(data), "001100100010");
  expect_parts(
      message_of<DataError>([&] { dataset_of(view(letters, 2), {.name = "codes"}, {.kind = ValueKind::kLetters}); }),
      {"codes", "row 1, column 2", "-1"});
}

TEST(InMemory, LettersOfAMachineMayBeProbabilities) {
  const ValueOptions options{.kind = ValueKind::kLetters, .missing = true, .letters = 2, .units = 4};
  const double nan = std::nan("");
  const std::vector<double> numbers{0, 1, 0.75, 0.25, 0.5, 0.5, nan, nan};
  const Dataset data = dataset_of(view(numbers, 4), {}, options);
  EXPECT_EQ(text_of(data), "01101010");
  EXPECT_EQ(data.missing(), 1u);
  for (const std::vector<double>& bad : {std::vector<double>{1, 1, 0, 1}, {0, 0, 0, 1}, {1, 0, 1.5, -0.5}}) {
    expect_parts(message_of<DataError>([&] { dataset_of(view(bad, 4), {}, options); }), {"row 1, columns", "add up"});
  }
  const std::vector<std::int64_t> letters{1, 0};
  EXPECT_EQ(text_of(dataset_of(view(letters, 2), {}, options)), "0110");
}

TEST(InMemory, LabelsShapeAndNameComeAlong) {
  const std::vector<std::uint8_t> pixels{0, 1, 1, 0, 1, 1, 0, 0};
  const std::vector<std::int64_t> classes{7, 3};
  const Dataset data = dataset_of(view(pixels, 4), {"pictures", {2, 2}, labels_of(view(classes, 1), "classes")});
  EXPECT_EQ(data.name, "pictures");
  EXPECT_EQ(data.shape, (PictureShape{2, 2}));
  EXPECT_EQ(data.labels, (std::vector<int>{7, 3}));
  expect_parts(message_of<DataError>([&] {
                 dataset_of(view(pixels, 4), {"pictures", {}, {1}});
               }),
               {"pictures", "2 rows", "1 labels"});
  message_of<UsageError>([&] { dataset_of(view(pixels, 4), {"pictures", {3, 2}}); });
  expect_parts(message_of<DataError>([&] {
                 labels_of(view(std::vector<double>{1, 0.5}, 1), "classes");
               }),
               {"classes", "row 2", "0.5"});
}

TEST(InMemory, BadNumbersAreNamedByTheirPlace) {
  const std::vector<double> numbers{0, 1, 2, std::nan("")};
  expect_parts(message_of<DataError>([&] { dataset_of(view(numbers, 2)); }), {"data: row 2, column 1", "[0, 1]"});
  expect_parts(message_of<DataError>([&] { dataset_of(view(numbers, 2), {}, {.kind = ValueKind::kReal}); }),
               {"data: row 2, column 2", "nan"});
  message_of<DataError>([&] { dataset_of(ArrayView{}); });
}

TEST(InMemory, MovedBitsAndNumbersAreNotCopied) {
  Bits bits(2, 70);
  bits.set(1, 69, true);
  const auto* words = bits.words().data();
  const Dataset packed = dataset_of(std::move(bits), {.name = "ring"});
  EXPECT_EQ(packed.bits().words().data(), words);
  EXPECT_EQ(packed.name, "ring");
  Matrix<float> reals(2, 3);
  reals(1, 2) = -5.0f;
  const float* numbers = reals.data();
  EXPECT_EQ(dataset_of(std::move(reals)).reals().data(), numbers);
}

TEST(InMemory, AdoptedNumbersAreCheckedAndMayBeMissing) {
  Matrix<float> reals(2, 2);
  reals(0, 1) = std::nanf("");
  expect_parts(message_of<DataError>([&] { dataset_of(reals); }), {"data: row 1, column 2", "nan"});
  const Dataset data = dataset_of(reals, {}, Missing::kAllowed);
  EXPECT_FALSE(data.is_known(0, 1));
  EXPECT_EQ(data.missing(), 1u);
  EXPECT_EQ(data.reals()(0, 1), 0.0f);
}

}  // namespace
}  // namespace ergodic
