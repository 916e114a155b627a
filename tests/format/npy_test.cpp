#include "ergodic/format/npy.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "format/damage.hpp"

namespace ergodic {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

// Written by numpy 1.24: write_array of arange(6) as '<f4' (2, 3); the same as '<i2' in Fortran order; [1.5, -2] as
// '>f8'; [True, False, True]; [258, 7] as '<u2', version 2; the scalar 5 as '<i8', version 3.
constexpr std::string_view kVersion1 =
    "\223NUMPY\001\000v\000{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }               "
    "                                           \012\000\000\000\000\000\000\200\077\000\000\000@\000"
    "\000@@\000\000\200@\000\000\240@"sv;
constexpr std::string_view kFortran =
    "\223NUMPY\001\000v\000{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }                "
    "                                           \012\000\000\003\000\001\000\004\000\002\000\005\000"sv;
constexpr std::string_view kBigEndian =
    "\223NUMPY\001\000v\000{'descr': '>f8', 'fortran_order': False, 'shape': (2,), }                 "
    "                                           \012\077\370\000\000\000\000\000\000\300\000\000\000"
    "\000\000\000\000"sv;
constexpr std::string_view kBool =
    "\223NUMPY\001\000v\000{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }                 "
    "                                           \012\001\000\001"sv;
constexpr std::string_view kVersion2 =
    "\223NUMPY\002\000t\000\000\000{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }         "
    "                                                 \012\002\001\007\000"sv;
constexpr std::string_view kVersion3 =
    "\223NUMPY\003\000t\000\000\000{'descr': '<i8', 'fortran_order': False, 'shape': (), }           "
    "                                                 \012\005\000\000\000\000\000\000\000"sv;

Array parse(std::string_view file) { return parse_npy(bytes_from(file), "f.npy"); }

/// A version 1.0 file with this header, unpadded, and these elements.
std::string file_with(const std::string& header, const std::string& elements = "") {
  return "\x93NUMPY\1\0"s + static_cast<char>(header.size() % 256) + static_cast<char>(header.size() / 256) + header +
         elements;
}

TEST(Npy, ReadsWhatNumpyWrites) {
  EXPECT_TRUE(same(parse(kVersion1), array_of<float>(ElementType::kFloat32, {2, 3}, {0, 1, 2, 3, 4, 5})));
  EXPECT_TRUE(same(parse(kFortran), array_of<std::int16_t>(ElementType::kInt16, {2, 3}, {0, 1, 2, 3, 4, 5})));
  EXPECT_TRUE(same(parse(kBigEndian), array_of<double>(ElementType::kFloat64, {2}, {1.5, -2})));
  EXPECT_TRUE(same(parse(kBool), array_of<std::uint8_t>(ElementType::kBool, {3}, {1, 0, 1})));
  EXPECT_TRUE(same(parse(kVersion2), array_of<std::uint16_t>(ElementType::kUInt16, {2}, {258, 7})));
  EXPECT_TRUE(same(parse(kVersion3), array_of<std::int64_t>(ElementType::kInt64, {}, {5})));
}

TEST(Npy, WritesTheBytesThatNumpyWrites) {
  for (const auto file : {kVersion1, kBool}) EXPECT_EQ(encode_npy(parse(file)), bytes_from(file));
}

TEST(Npy, EveryTypeAndShapeSurvives) {
  const auto path = fresh_path("a.npy");
  for (const Array& array : arrays_of_all_types()) {
    write_npy(path, array);
    EXPECT_TRUE(same(read_npy(path), array)) << name_of(array.type);
  }
  for (const std::vector<std::size_t>& shape :
       {std::vector<std::size_t>{}, {0}, {1}, {3, 0, 2}, {2, 3, 4}, std::vector<std::size_t>(64, 1)}) {
    Array array{ElementType::kUInt8, shape, {}};
    array.bytes.resize(array.size());
    EXPECT_TRUE(same(parse_npy(encode_npy(array), "f"), array));
    EXPECT_EQ((encode_npy(array).size() - array.bytes.size()) % 64, 0u);
  }
}

TEST(Npy, FortranOrderOfThreeAxes) {
  std::string elements(24, '\0');
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 4; ++k) elements[i + 2 * (j + 3 * k)] = static_cast<char>(k + 4 * (j + 3 * i));
    }
  }
  const auto read = parse(file_with("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4), }", elements));
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(std::to_integer<std::size_t>(read.bytes[i]), i);
}

TEST(Npy, HeadersInAnyOrderAndSpacing) {
  EXPECT_EQ(parse(file_with("{\"shape\":(1,),'fortran_order':False,'descr':'|i1'}", "x")).shape.size(), 1u);
}

TEST(Npy, OtherTypesAreRefusedWithAdvice) {
  for (const auto* descr :
       {"'|O'", "'<c8'", "'<f2'", "'<U3'", "'|S4'", "'<M8[ns]'", "'<f16'", "'|f4'", "'=f4'", "''", "'f4'", "'<b2'"}) {
    const auto file =
        file_with(fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': (1,), }}", descr), "12345678");
    EXPECT_NE(refusal([&] { parse(file); }).find("convert it with astype"), std::string::npos) << descr;
  }
  const auto record = file_with("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }", "1234");
  EXPECT_NE(refusal([&] { parse(record); }).find("records cannot be read"), std::string::npos);
}

TEST(Npy, HeadersThatAreNotExactlyADictionaryOfTheThreeKeys) {
  const std::string good = "'descr': '|u1', 'fortran_order': False, 'shape': ";
  for (const std::string& header :
       {""s, "{}"s, "{" + good + "(1,), "s, "{" + good + "(1,)} x"s, "{" + good + "(1)}"s, "{" + good + "(1 1)}"s,
        "{" + good + "(-1,)}"s, "{" + good + "(1.0,)}"s, "{" + good + "(99999999999999999999,)}"s, "{" + good + "[1]}"s,
        "{" + good + "(1,), 'shape': (1,)}"s, "{" + good + "(1,), 'more': 1}"s, "{'descr': '|u1', 'shape': (1,)}"s,
        "{'descr': '|u1', 'fortran_order': 0, 'shape': (1,)}"s, "{'descr: 1"s,
        "{" + good + "(" + fmt::format("{}", fmt::join(std::vector<int>(65, 1), ",")) + ")}"}) {
    EXPECT_THROW(parse(file_with(header, "x")), DataError) << header;
  }
  EXPECT_EQ(refusal([&] { parse(file_with("{" + good + "(x,)}", "x")); }),
            "f.npy: byte 61: npy header: expected a whole number below 2^64, found \"x,)}\"");
}

TEST(Npy, SizesThatDoNotMatchTheFile) {
  const std::string good = "{'descr': '<f8', 'fortran_order': False, 'shape': ";
  EXPECT_NE(refusal([&] { parse(file_with(good + "(4294967296, 4294967296)}", "12345678")); }).find("more than 2^64"),
            std::string::npos);
  EXPECT_NE(refusal([&] { parse(file_with(good + "(1000000000000,)}", "12345678")); }).find("found 8"),
            std::string::npos);
  EXPECT_THROW(parse(file_with(good + "(1,)}", "123456789")), DataError);
  EXPECT_THROW(parse("\x93NUMPY\4\0\0\0"sv), DataError);
  EXPECT_EQ(refusal([] { parse("hello"); }),
            "f.npy: byte 0: expected \"\\x93NUMPY\", found \"hello\"; this is not an npy file");
}

TEST(Npy, ABoolOtherThanZeroAndOneIsRefused) {
  auto file = bytes_from(kBool);
  file.back() = std::byte{2};
  EXPECT_THROW(parse_npy(file, "f"), DataError);
}

TEST(Npy, EveryTruncationIsRefused) {
  for (const auto file : {kVersion1, kFortran, kVersion2, kVersion3}) {
    for_each_truncation(bytes_from(file),
                        [](const ByteVector& part) { EXPECT_THROW(parse_npy(part, "f"), DataError); });
  }
}

TEST(Npy, EveryFlippedBitIsSurvived) {
  for (const auto file : {kVersion1, kFortran, kBigEndian, kBool, kVersion2, kVersion3}) {
    for_each_bit_flip(bytes_from(file),
                      [](const ByteVector& damaged, std::size_t) { refuses([&] { parse_npy(damaged, "f"); }); });
  }
}

TEST(Npy, TheWriterRefusesAnArrayThatIsNotWhole) {
  EXPECT_THROW(encode_npy(Array{ElementType::kFloat32, {2}, ByteVector(7)}), UsageError);
}

}  // namespace
}  // namespace ergodic
