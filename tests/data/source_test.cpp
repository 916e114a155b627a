#include "ergodic/data/source.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <set>

#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/data/moments.hpp"
#include "ergodic/data/synthetic.hpp"
#include "ergodic/format/npy.hpp"
#include "format/damage.hpp"
#include "format/npz_writer.hpp"

namespace ergodic {
namespace {

using namespace std::string_view_literals;

Array doubles(std::vector<std::size_t> shape, const std::vector<double>& values) {
  return array_of<double>(ElementType::kFloat64, std::move(shape), values);
}

Array bytes(std::vector<std::size_t> shape, const std::vector<std::uint8_t>& values) {
  return array_of<std::uint8_t>(ElementType::kUInt8, std::move(shape), values);
}

Array integers(std::vector<std::size_t> shape, const std::vector<std::int64_t>& values) {
  return array_of<std::int64_t>(ElementType::kInt64, std::move(shape), values);
}

DataOptions request(std::string source, std::filesystem::path labels = {}, Binarise binarise = Binarise::kThreshold,
                    double threshold = 0.5, double test_share = 0.0) {
  return {{ValueKind::kBits, binarise, threshold}, std::move(source), std::move(labels), test_share};
}

DataParts load(const std::filesystem::path& path, Binarise binarise = Binarise::kThreshold, double threshold = 0.5) {
  return load_data(request(path.string(), {}, binarise, threshold, 0.0));
}

/// What comes of an array that lies in a file.
Dataset loaded(const Array& array, Binarise binarise = Binarise::kThreshold, double threshold = 0.5) {
  const auto path = fresh_path("x.npy");
  write_npy(path, array);
  return load(path, binarise, threshold).train;
}

std::string text_of(const Dataset& data) {
  std::string text;
  for (std::size_t r = 0; r < data.rows(); ++r) {
    for (std::size_t i = 0; i < data.units(); ++i) text += data.bits().get(r, i) ? '1' : '0';
  }
  return text;
}

void write_text(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(Source, ReadsEveryElementType) {
  const auto ones = []<class T>(ElementType type, T) { return array_of<T>(type, {2, 3}, {0, 1, 1, 1, 0, 0}); };
  const std::vector<Array> arrays{
      ones(ElementType::kBool, std::uint8_t{}),  ones(ElementType::kUInt8, std::uint8_t{}),
      ones(ElementType::kInt8, std::int8_t{}),   ones(ElementType::kUInt16, std::uint16_t{}),
      ones(ElementType::kInt16, std::int16_t{}), ones(ElementType::kUInt32, std::uint32_t{}),
      ones(ElementType::kInt32, std::int32_t{}), ones(ElementType::kUInt64, std::uint64_t{}),
      ones(ElementType::kInt64, std::int64_t{}), ones(ElementType::kFloat32, float{}),
      ones(ElementType::kFloat64, double{})};
  for (const Array& array : arrays) {
    SCOPED_TRACE(name_of(array.type));
    const Dataset data = loaded(array);
    EXPECT_EQ(data.rows(), 2u);
    EXPECT_EQ(data.units(), 3u);
    EXPECT_EQ(data.shape, PictureShape{});
    EXPECT_EQ(text_of(data), "011100");
  }
}

TEST(Source, BytesBeyondOneAreGreyLevelsOf255) {
  const Dataset grey = loaded(bytes({1, 4}, {0, 1, 128, 255}), Binarise::kDynamic);
  EXPECT_TRUE(std::ranges::equal(grey.grey().row(0), std::vector<Grey>{0, 257, 128 * 257, kFullGrey}));
  const Dataset zeros_and_ones = loaded(bytes({1, 2}, {0, 1}), Binarise::kDynamic);
  EXPECT_TRUE(std::ranges::equal(zeros_and_ones.grey().row(0), std::vector<Grey>{0, kFullGrey}));
}

TEST(Source, RealValuesAreRoundedToTheNearestLevel) {
  const Dataset grey = loaded(doubles({1, 4}, {0.0, 0.2, 1e-6, 1.0}), Binarise::kDynamic);
  EXPECT_TRUE(std::ranges::equal(grey.grey().row(0), std::vector<Grey>{0, 13107, 0, kFullGrey}));
}

TEST(Source, ValuesOutsideAreRefusedWithTheirPlace) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, -0.001, 1.001, infinity, -infinity}) {
    SCOPED_TRACE(bad);
    Array array = doubles({2, 3}, {0, 1, 0, 0.5, 0, bad});
    expect_parts(refusal([&] { loaded(array); }), {"x.npy", "row 2, column 3", "[0, 1]"});
    array = array_of<float>(ElementType::kFloat32, {3, 1}, {0.0f, static_cast<float>(bad), 1.0f});
    expect_parts(refusal([&] { loaded(array); }), {"x.npy", "row 2, column 1", "[0, 1]"});
  }
  expect_parts(refusal([] { loaded(integers({2, 2}, {0, 2, 0, 1})); }), {"row 1, column 2", "found 2"});
  expect_parts(refusal([] {
                 loaded(array_of<std::int8_t>(ElementType::kInt8, {1, 3}, {1, -1, 0}));
               }),
               {"row 1, column 2", "found -1"});
}

TEST(Source, ArraysWithoutRowsOfValuesAreRefused) {
  expect_parts(refusal([] { loaded(doubles({3}, {0, 1, 0})); }), {"2 or more dimensions", "one dimension"});
  expect_parts(refusal([] { loaded(doubles({}, {1})); }), {"2 or more dimensions", "a single value"});
  expect_parts(refusal([] { loaded(doubles({0, 3}, {})); }), {"empty"});
  expect_parts(refusal([] { loaded(doubles({3, 0}, {})); }), {"empty"});
}

TEST(Source, ThreeDimensionsArePictures) {
  const Dataset data = loaded(doubles({2, 2, 3}, std::vector<double>(12, 1.0)));
  EXPECT_EQ(data.rows(), 2u);
  EXPECT_EQ(data.units(), 6u);
  EXPECT_EQ(data.shape, (PictureShape{2, 3}));
}

TEST(Source, FormatsAreToldByTheirContent) {
  const auto path = fresh_path("data.bin");
  write_npz(path, {{"x", bytes({1, 3}, {1, 0, 1})}});
  EXPECT_EQ(text_of(load(path).train), "101");
  write_npy(path, bytes({1, 3}, {0, 0, 1}));
  EXPECT_EQ(text_of(load(path).train), "001");
  write_text(path, "0,1,1\n1,0,0\n");
  EXPECT_EQ(text_of(load(path).train), "011100");
  write_text(path, "\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02\0\xff\xff\0"sv);  // IDX, 2 pictures of 1 x 2 bytes
  EXPECT_EQ(text_of(load(path).train), "0110");
  EXPECT_EQ(load(path).train.shape, (PictureShape{1, 2}));
}

TEST(Source, TheValuesOfAnArchiveMayHaveSeveralNames) {
  const auto path = fresh_path("x.npz");
  const Array values = bytes({1, 2}, {0, 1}), other = bytes({5, 1}, {1, 1, 1, 1, 1});
  for (const char* name : {"x", "X", "images", "data"}) {
    write_npz(path, {{"other", other}, {name, values}});
    EXPECT_EQ(text_of(load(path).train), "01") << name;
  }
  write_npz(path, {{"alone", values}});
  EXPECT_EQ(text_of(load(path).train), "01");
  write_npz(path, {{"one", values}, {"two", other}});
  expect_parts(refusal([&] { load(path); }), {"x.npz", "expected an array named x", "one", "two"});
}

TEST(Source, LabelsInsideAnArchiveFollowTheirRows) {
  const auto path = fresh_path("x.npz");
  const Array values = bytes({3, 1}, {0, 1, 1});
  for (const auto& [x, y] : {std::pair{"x", "y"}, std::pair{"images", "labels"}}) {
    write_npz(path, {{y, integers({3}, {7, -8, 9})}, {x, values}});
    EXPECT_EQ(load(path).train.labels, (std::vector<int>{7, -8, 9})) << y;
  }
  write_npz(path, {{"x", values}, {"y", integers({2}, {7, 8})}});
  expect_parts(refusal([&] { load(path); }), {"x.npz", "3 rows", "2 labels"});
}

TEST(Source, LabelsMayBeAFileOfTheirOwn) {
  const auto path = fresh_path("x.npz");
  const auto labels = path.parent_path() / "labels";
  write_npz(path, {{"x", bytes({2, 1}, {0, 1})}, {"y", integers({2}, {1, 1})}});
  const auto load_labels = [&] { return load_data(request(path.string(), labels)).train.labels; };
  write_npy(labels, integers({2}, {4, 5}));
  EXPECT_EQ(load_labels(), (std::vector<int>{4, 5}));  // named by the user: they replace those inside
  write_text(labels, "6\n7\n");
  EXPECT_EQ(load_labels(), (std::vector<int>{6, 7}));
  write_npy(labels, integers({3}, {4, 5, 6}));
  expect_parts(refusal(load_labels), {"labels", "2 rows", "3 labels"});
  write_npy(labels, doubles({2}, {1.0, 1.5}));
  expect_parts(refusal(load_labels), {"labels", "row 2", "whole number", "1.5"});
  write_npy(labels, doubles({2}, {std::nan(""), 1.0}));
  expect_parts(refusal(load_labels), {"labels", "row 1", "whole number"});
  write_npy(labels, integers({2}, {1, std::int64_t{1} << 40}));
  expect_parts(refusal(load_labels), {"labels", "row 2"});
  std::filesystem::remove(labels);
  EXPECT_THROW(load_labels(), NoInputError);
}

TEST(Source, WeightsComeFromAFileOfTheirOwn) {
  const auto path = fresh_path("rows.csv");
  write_text(path, "0,1\n1,1\n1,0\n");
  const auto weights = path.parent_path() / "weights";
  const auto load_weights = [&] {
    DataOptions options = request(path.string());
    options.weights = weights;
    return load_data(options).train.weights;
  };
  write_npy(weights, doubles({3}, {0.5, 0.0, 2.0}));
  EXPECT_EQ(load_weights(), (std::vector<double>{0.5, 0.0, 2.0}));
  write_npy(weights, bytes({3, 1}, {1, 255, 3}));  // numbers as they are, not grey levels
  EXPECT_EQ(load_weights(), (std::vector<double>{1.0, 255.0, 3.0}));
  write_text(weights, "1\n2\n3\n");  // and no column of numbers of rows
  EXPECT_EQ(load_weights(), (std::vector<double>{1.0, 2.0, 3.0}));
  write_npy(weights, doubles({2}, {1.0, 1.0}));
  expect_parts(refusal(load_weights), {"weights", "3 rows", "2 weights"});
  write_npy(weights, doubles({3}, {1.0, -0.5, 1.0}));
  expect_parts(refusal(load_weights), {"weights", "row 2", "-0.5"});
  write_npy(weights, doubles({3}, {1.0, 1.0, std::nan("")}));
  expect_parts(refusal(load_weights), {"weights", "row 3", "nan"});
  write_npy(weights, doubles({3}, {0.0, 0.0, 0.0}));
  expect_parts(refusal(load_weights), {"weights", "all weights are 0"});
}

TEST(Source, ANameMayCarryASize) {
  EXPECT_EQ(load_data(request("bars-and-stripes")).train.rows(), 32u);
  EXPECT_EQ(load_data(request("bars-and-stripes:3")).train.rows(), 16u);
  EXPECT_EQ(load_data(request("shifting-bars")).train.rows(), 9u);
  EXPECT_EQ(load_data(request("shifting-bars:65")).train.units(), 65u);
  const DataParts digits = load_data(request("digits:200"));
  EXPECT_EQ(digits.train.rows(), 200u);
  EXPECT_EQ(digits.test.rows(), 20u);
}

TEST(Source, ASizeThatIsNoneIsRefused) {
  for (const char* source : {"bars-and-stripes:", "bars-and-stripes:0", "bars-and-stripes:17", "bars-and-stripes:3x",
                             "bars-and-stripes:-3", "bars-and-stripes: 3", "bars-and-stripes:3.0"}) {
    expect_parts(message_of<UsageError>([&] { load_data(request(source)); }), {source, "from 1 to 16"});
  }
  EXPECT_THROW(load_data(request("shifting-bars:99999999999999999999999")), UsageError);
  EXPECT_THROW(load_data(request("digits:9")), UsageError);
}

TEST(Source, NamedSetsHaveTheirOwnLabels) {
  for (const char* source : {"digits:10", "bars-and-stripes", "mnist"}) {
    expect_parts(message_of<UsageError>([&] { load_data(request(source, "labels.npy")); }), {source, "--labels"});
  }
}

TEST(Source, WhatIsNeitherFileNorNameIsMissingInput) {
  const auto missing = (fresh_path("x.npy").parent_path() / "nothing.npy").string();
  expect_parts(message_of<NoInputError>([&] { load_data(request(missing)); }), {missing, "ergodic data list"});
  EXPECT_THROW(load_data(request("bars-and-strips")), NoInputError);
  EXPECT_THROW(load_data(request("")), NoInputError);
}

TEST(Source, ANameLongerThanTheFileSystemAllowsIsMissingInput) {
  message_of<NoInputError>([] { load_data(request(std::string(300, 'x'))); });
}

TEST(Source, AFolderIsMissingInput) {
  EXPECT_THROW(load_data(request(fresh_path("x.npy").parent_path().string())), NoInputError);
}

/// Eight rows, of which each is its own number in bits and label.
DataParts eight_rows(double test_share) {
  const auto path = fresh_path("x.npz");
  std::vector<std::uint8_t> values;
  std::vector<std::int64_t> labels;
  for (unsigned r = 0; r < 8; ++r) {
    for (unsigned i = 0; i < 3; ++i) values.push_back((r >> i) & 1u);
    labels.push_back(r);
  }
  write_npz(path, {{"x", bytes({8, 3}, values)}, {"y", integers({8}, labels)}});
  return load_data(request(path.string(), {}, Binarise::kThreshold, 0.5, test_share));
}

TEST(Source, ATestShareSetsRowsApart) {
  const DataParts parts = eight_rows(0.25);
  EXPECT_EQ(parts.test.rows(), 2u);
  EXPECT_EQ(parts.train.rows(), 6u);
  std::set<int> seen;
  for (const Dataset* part : {&parts.train, &parts.test}) {
    for (std::size_t r = 0; r < part->rows(); ++r) {
      const int label = part->labels[r];
      seen.insert(label);
      for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(part->bits().get(r, i), ((label >> i) & 1) != 0);
    }
  }
  EXPECT_EQ(seen.size(), 8u);
  EXPECT_EQ(eight_rows(0.25).test.labels, parts.test.labels);
}

TEST(Source, WithoutATestShareThereIsNoTestPart) { EXPECT_EQ(eight_rows(0.0).test.rows(), 0u); }

TEST(Source, ATestShareOfEverythingLeavesNothingToTrainOn) {
  expect_parts(message_of<UsageError>([] { eight_rows(1.0); }), {"x.npz", "test share"});
}

TEST(Source, ATestShareAlsoSplitsAMadeSetWithoutATestPart) {
  const DataParts parts = load_data(request("bars-and-stripes:3", {}, Binarise::kThreshold, 0.5, 0.25));
  EXPECT_EQ(parts.test.rows(), 4u);
  EXPECT_EQ(parts.train.rows(), 12u);
}

/// Which of the values are on under this threshold, as a text of zeros and ones.
std::string on_from(const std::vector<double>& values, double threshold) {
  std::string text;
  for (const double value : values) text += value >= threshold ? '1' : '0';
  return text;
}

TEST(Source, AValueIsOnFromTheThresholdUp) {
  std::vector<double> values;
  for (int percent = 0; percent <= 100; ++percent) values.push_back(percent / 100.0);
  for (int percent = 1; percent <= 100; ++percent) values.push_back(std::nextafter(percent / 100.0, 0.0));
  const auto path = fresh_path("x.npy");
  write_npy(path, doubles({1, values.size()}, values));
  for (int percent = 0; percent <= 100; ++percent) {
    const double threshold = percent / 100.0;
    ASSERT_EQ(text_of(load(path, Binarise::kThreshold, threshold).train), on_from(values, threshold)) << threshold;
  }
}

TEST(Source, EveryLevelOfAByteCanBeTheThreshold) {
  std::vector<double> values;
  std::vector<std::uint8_t> levels;
  for (unsigned level = 0; level <= 255; ++level) {
    values.push_back(level / 255.0);
    levels.push_back(static_cast<std::uint8_t>(level));
  }
  const auto path = fresh_path("x.npy");
  write_npy(path, bytes({1, 256}, levels));
  for (const double threshold : values) {
    ASSERT_EQ(text_of(load(path, Binarise::kThreshold, threshold).train), on_from(values, threshold)) << threshold;
  }
}

TEST(Source, FixedBinarisingIsTheSameEachTime) {
  const Array half = doubles({50, 60}, std::vector<double>(3000, 0.5));
  const Dataset first = loaded(half, Binarise::kFixed);
  EXPECT_EQ(first.bits(), loaded(half, Binarise::kFixed).bits());
  const std::string text = text_of(first);
  // The standard error of a share of n fair coins is 1/2 sqrt(n).
  EXPECT_NEAR(static_cast<double>(std::count(text.begin(), text.end(), '1')) / 3000.0, 0.5,
              4.0 * 0.5 / std::sqrt(3000.0));
}

TEST(Source, APipeIsRefusedAndNotWaitedFor) {
  const auto pipe = fresh_path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto rows = pipe.parent_path() / "x.npy";
  write_npy(rows, bytes({2, 1}, {0, 1}));
  for (const DataOptions& options : {request(pipe.string()), request(rows.string(), pipe)}) {
    expect_parts(message_of<NoInputError>([&] { load_data(options); }), {pipe.string(), "not a regular file"});
  }
}

TEST(Source, DynamicDataKeepsItsGreyLevels) {
  const DataParts parts = load_data(request("digits:20", {}, Binarise::kDynamic));
  EXPECT_EQ(parts.train.grey(), digit_sheet(20, 0).grey());
  EXPECT_EQ(parts.test.grey(), digit_sheet(10, 1).grey());
  EXPECT_TRUE(parts.train.dynamic());
}

TEST(Source, TrainAndTestDigitsAreDifferentSheets) {
  const DataParts parts = load_data(request("digits:10"));
  EXPECT_NE(parts.train.bits(), parts.test.bits());
}

const double kNan = std::numeric_limits<double>::quiet_NaN();

Dataset loaded_with_gaps(const Array& array, ValueKind kind, Binarise binarise = Binarise::kThreshold) {
  const auto path = fresh_path("x.npy");
  write_npy(path, array);
  DataOptions options = request(path.string(), {}, binarise);
  options.missing = true;
  options.kind = kind;
  return load_data(options).train;
}

TEST(MissingValues, AreRefusedWithAdviceUnlessAllowed) {
  expect_parts(refusal([&] { loaded(doubles({1, 2}, {0, kNan})); }), {"row 1, column 2", "nan", "--missing"});
  const auto path = fresh_path("x.npy");
  for (const ValueKind kind : {ValueKind::kReal, ValueKind::kLetters}) {
    write_npy(path, doubles({1, 2}, {0, kNan}));
    DataOptions options = request(path.string());
    options.kind = kind;
    expect_parts(refusal([&] { load_data(options); }), {"row 1, column 2", "nan", "--missing"});
  }
}

TEST(MissingValues, OfEveryBinarisingAreOff) {
  for (const Binarise how : {Binarise::kThreshold, Binarise::kFixed, Binarise::kDynamic}) {
    const Dataset data = loaded_with_gaps(doubles({2, 2}, {1, kNan, kNan, 1}), ValueKind::kBits, how);
    EXPECT_EQ(data.missing(), 2u);
    EXPECT_FALSE(data.is_known(0, 1));
    EXPECT_TRUE(data.is_known(1, 1));
    EXPECT_EQ(unit_means(data), (std::vector<double>{1.0, 1.0}));
    Bits drawn(2, 2);
    gather(data, std::vector<std::uint32_t>{0, 1}, Key{1}, 0, drawn, {});
    EXPECT_FALSE(drawn.get(0, 1));
    EXPECT_TRUE(drawn.get(1, 1));
  }
}

TEST(MissingValues, OfRealNumbersAreHeldAsZero) {
  const Dataset data = loaded_with_gaps(doubles({1, 3}, {-2, kNan, 7}), ValueKind::kReal);
  EXPECT_TRUE(std::ranges::equal(data.reals().row(0), std::vector<float>{-2, 0, 7}));
  EXPECT_FALSE(data.is_known(0, 1));
  EXPECT_TRUE(loaded_with_gaps(doubles({1, 2}, {1, 2}), ValueKind::kReal).complete());
}

TEST(MissingValues, OfLettersAreWholeSitesAndMayBeMinusOne) {
  for (const Array& array : {doubles({2, 2}, {2, kNan, 1, 0}), integers({2, 2}, {2, -1, 1, 0})}) {
    const Dataset data = loaded_with_gaps(array, ValueKind::kLetters);
    EXPECT_EQ(data.letters, 3u);
    EXPECT_EQ(data.missing(), 1u);
    EXPECT_EQ(text_of(data),
              "001100"
              "010100");
    for (std::size_t unit = 0; unit < 6; ++unit) EXPECT_EQ(data.is_known(0, unit), unit < 3);
  }
}

TEST(Source, SignsAreBits) {
  const Array signs = array_of<std::int8_t>(ElementType::kInt8, {2, 2}, {1, -1, -1, 1});
  EXPECT_EQ(text_of(loaded(signs)), "1001");
  EXPECT_EQ(text_of(loaded(doubles({2, 2}, {1, -1, -1, 1}))), "1001");
}

TEST(Source, SpinsMayHaveMeansBetweenTheirValues) {
  DataOptions options = request(fresh_path("x.npy").string());
  options.kind = ValueKind::kSpins;
  write_npy(options.source, doubles({1, 4}, {-0.5, 0.25, 1, -1}));
  EXPECT_EQ(text_of(load_data(options).train), "0110");
  write_npy(options.source, doubles({1, 4}, {0, 0.25, 1, 0.5}));
  EXPECT_EQ(text_of(load_data(options).train), "0011");
  write_npy(options.source, doubles({1, 2}, {-1, 1.3634951}));
  expect_parts(refusal([&] { load_data(options); }), {"row 1, column 2", "[-1, 1]", "found 1.3634951;"});
}

TEST(Source, ValuesThatAreNoBitsNameTheUnitsThatTakeThem) {
  expect_parts(refusal([] { loaded(integers({1, 2}, {1, 5})); }), {"found 5", "scale", "gaussian", "potts"});
}

std::vector<std::string> warnings_of(const Array& array) {
  const auto path = fresh_path("x.npy");
  write_npy(path, array);
  return load(path).warnings;
}

TEST(Source, OddDataIsWarnedOf) {
  const auto dark = warnings_of(bytes({2, 2}, {0, 16, 3, 0}));
  ASSERT_EQ(dark.size(), 2u);
  expect_parts(dark[0], {"largest is 16", "divide the array by 16"});
  expect_parts(dark[1], {"no unit is on"});
  const auto same = warnings_of(bytes({2, 2}, {0, 1, 0, 1}));
  ASSERT_EQ(same.size(), 1u);
  expect_parts(same[0], {"all 2 rows are the same"});
  EXPECT_TRUE(warnings_of(bytes({2, 2}, {0, 255, 3, 0})).empty());
  EXPECT_TRUE(warnings_of(bytes({2, 2}, {0, 1, 1, 0})).empty());
}

TEST(Source, AnAlignmentOfBasesIsWarnedOf) {
  const auto path = fresh_path("x.fasta");
  write_text(path, ">a\nACGT-\n>b\nACGTA\n");
  const auto warnings = load(path).warnings;
  ASSERT_EQ(warnings.size(), 1u);
  expect_parts(warnings[0], {"DNA"});
  write_text(path, ">a\nACGT-\n>b\nACGWA\n");
  EXPECT_TRUE(load(path).warnings.empty());
  // Unknown bases (N) are letters of proteins too, and the U of RNA is none.
  for (const auto* text : {">a\nACGTACGTACGTN\n>b\nACGTAC--ACGTA\n", ">a\nACGU\n>b\nUUGA\n"}) {
    write_text(path, text);
    EXPECT_EQ(load(path).warnings.size(), 1u) << text;
  }
}

TEST(Source, TablesHaveNamesAndLabels) {
  const auto path = fresh_path("x.csv");
  write_text(path, "id,a,town,kind\n1,1,Breda,x\n2,0,Utrecht,y\n");
  DataOptions options = request(path.string());
  options.table.label_column = "kind";
  const DataParts parts = load_data(options);
  EXPECT_EQ(parts.train.unit_names, (std::vector<std::string>{"a", "town=Breda", "town=Utrecht"}));
  EXPECT_EQ(parts.train.class_names, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(parts.train.labels, (std::vector<int>{0, 1}));
  EXPECT_EQ(text_of(parts.train), "110001");
  EXPECT_EQ(parts.warnings.size(), 1u);
  write_text(path, "a,b\n1,0\n0,3\n");
  expect_parts(refusal([&] { load(path); }), {"row 2, column 2 (b)", "found 3"});
  expect_parts(message_of<UsageError>([&] { options.source = "digits:20", load_data(options); }), {"--label-column"});
}

}  // namespace
}  // namespace ergodic
