#include "ergodic/format/bytes.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "format/damage.hpp"

namespace ergodic {
namespace {

TEST(Bytes, IntegersInBothOrders) {
  const auto bytes = bytes_from("\x01\x02\x03\x04\x05\x06\x07\x08");
  EXPECT_EQ(ByteReader(bytes, "f").integer<std::uint8_t>(ByteOrder::kBig, "x"), 1u);
  EXPECT_EQ(ByteReader(bytes, "f").integer<std::uint16_t>(ByteOrder::kLittle, "x"), 0x0201u);
  EXPECT_EQ(ByteReader(bytes, "f").integer<std::uint32_t>(ByteOrder::kBig, "x"), 0x01020304u);
  EXPECT_EQ(ByteReader(bytes, "f").integer<std::uint64_t>(ByteOrder::kLittle, "x"), 0x0807060504030201u);
  ByteVector written;
  append_integer<std::uint64_t>(written, 0x0807060504030201u);
  EXPECT_EQ(written, bytes);
}

TEST(Bytes, TheReaderStaysInItsFileAndNamesThePlace) {
  const auto bytes = bytes_from("abcdef");
  ByteReader file(bytes, "some.file");
  EXPECT_EQ(as_text(file.take(4, "letters")), "abcd");
  EXPECT_EQ(refusal([&] { file.take(3, "letters"); }),
            "some.file: byte 4: expected 3 bytes of letters, found 2; the file is truncated or damaged");
  EXPECT_THROW(file.take(std::numeric_limits<std::size_t>::max(), "letters"), DataError);
  EXPECT_THROW(file.seek(7, "letters"), DataError);
  EXPECT_EQ(refusal([&] { file.expect_end("letters"); }),
            "some.file: byte 4: expected the end after letters, found 2 more bytes");
  file.seek(6, "the end");
  EXPECT_NO_THROW(file.expect_end("letters"));
  EXPECT_EQ(file.take(0, "nothing").size(), 0u);
}

TEST(Bytes, ExcerptsAreShortAndPrintable) {
  EXPECT_EQ(excerpt("plain"), "\"plain\"");
  EXPECT_EQ(excerpt("\x1b[31m\n\xff"), "\"\\x1b[31m\\x0a\\xff\"");
  EXPECT_EQ(excerpt(std::string(100, 'a')), "\"" + std::string(40, 'a') + "...\"");
}

TEST(Bytes, ByteCountsAreCheckedForOverflow) {
  const auto count = [](ElementType type, std::vector<std::size_t> shape) { return byte_count(type, shape); };
  const std::size_t half = std::size_t{1} << 32;
  EXPECT_EQ(count(ElementType::kFloat64, {2, 3}), 48u);
  EXPECT_EQ(count(ElementType::kFloat32, {}), 4u);
  EXPECT_EQ(count(ElementType::kUInt8, {half, half - 1}), half * (half - 1));
  EXPECT_EQ(count(ElementType::kUInt8, {half, half}), std::nullopt);
  EXPECT_EQ(count(ElementType::kUInt16, {half, half / 2}), std::nullopt);
  EXPECT_EQ(count(ElementType::kUInt8, {7, 0}), 0u);
  EXPECT_EQ(count(ElementType::kUInt8, {half, half, 0}), std::nullopt);
}

TEST(Bytes, ReversesEachElement) {
  auto bytes = bytes_from("abcdefgh");
  reverse_elements(bytes, 1);
  EXPECT_EQ(as_text(bytes), "abcdefgh");
  reverse_elements(bytes, 4);
  EXPECT_EQ(as_text(bytes), "dcbahgfe");
}

TEST(Bytes, OnlyZeroAndOneAreBools) {
  const auto bytes = bytes_from(std::string_view("\0\1\2", 3));
  EXPECT_NO_THROW(check_bools(ElementType::kUInt8, bytes, "f", 10));
  EXPECT_EQ(refusal([&] { check_bools(ElementType::kBool, bytes, "f", 10); }),
            "f: byte 12: expected a bool, 0 or 1, found 2");
}

TEST(Bytes, AWriterRefusesAnArrayThatIsNotWhole) {
  EXPECT_NO_THROW(require_whole(array_of<float>(ElementType::kFloat32, {2}, {1, 2}), "w"));
  EXPECT_THROW(require_whole(array_of<float>(ElementType::kFloat32, {3}, {1, 2}), "w"), UsageError);
  EXPECT_THROW(require_whole(Array{ElementType::kUInt8, std::vector<std::size_t>(65, 1), ByteVector(1)}, "w"),
               UsageError);
  EXPECT_EQ(shape_text(std::vector<std::size_t>{2, 3}), "(2, 3)");
  EXPECT_EQ(shape_text(std::vector<std::size_t>{2}), "(2,)");
  EXPECT_EQ(shape_text({}), "()");
}

}  // namespace
}  // namespace ergodic
