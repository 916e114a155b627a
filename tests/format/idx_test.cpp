#include "ergodic/format/idx.hpp"

#include <gtest/gtest.h>

#include "format/damage.hpp"

namespace ergodic {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

// uint8 of shape (2, 3): 0 50 100 150 200 250; once as it is, once as Python's gzip wrote it.
constexpr std::string_view kPlain = "\000\000\010\002\000\000\000\002\000\000\000\003\000\062\144\226\310\372"sv;
constexpr std::string_view kGzip =
    "\037\213\010\000\000\000\000\000\002\003c`\340`b``\000af\006\243\224i'~\001\000{Kz\035\022\000\000\000"sv;

Array parse(std::string_view text) { return parse_idx(bytes_from(text), "f"); }

TEST(Idx, PlainAndGzippedAreTheSame) {
  const auto expected = array_of<std::uint8_t>(ElementType::kUInt8, {2, 3}, {0, 50, 100, 150, 200, 250});
  for (const auto file : {kPlain, kGzip}) {
    EXPECT_TRUE(same(parse(file), expected));
  }
}

TEST(Idx, EveryTypeIsReadFromBigEndian) {
  const auto head = [](std::string_view type) { return "\0\0"s + std::string(type) + "\1\0\0\0\1"s; };
  const auto read = [&](std::string_view type, std::string_view data) { return parse(head(type) + std::string(data)); };
  EXPECT_TRUE(same(read("\x08", "\xfe"), array_of<std::uint8_t>(ElementType::kUInt8, {1}, {254})));
  EXPECT_TRUE(same(read("\x09", "\xfe"), array_of<std::int8_t>(ElementType::kInt8, {1}, {-2})));
  EXPECT_TRUE(same(read("\x0b", "\xfe\xff"), array_of<std::int16_t>(ElementType::kInt16, {1}, {-257})));
  EXPECT_TRUE(same(read("\x0c", "\0\1\2\3"sv), array_of<std::int32_t>(ElementType::kInt32, {1}, {0x10203})));
  EXPECT_TRUE(same(read("\x0d", "\x3f\xc0\0\0"sv), array_of<float>(ElementType::kFloat32, {1}, {1.5f})));
  EXPECT_TRUE(same(read("\x0e", "\xc0\0\0\0\0\0\0\0"sv), array_of<double>(ElementType::kFloat64, {1}, {-2.0})));
}

TEST(Idx, RefusesWhatIsNotIdx) {
  EXPECT_NE(refusal([] { parse("PNG!1234"); }).find("this is not an IDX file"), std::string::npos);
  EXPECT_THROW(parse("\0\0\x0a\1\0\0\0\1x"sv), DataError);  // no such type
  EXPECT_THROW(parse("\0\0\x08\0x"sv), DataError);          // no axes
  EXPECT_THROW(parse(""), DataError);
}

TEST(Idx, ShapesThatPromiseTooMuchAreRefusedAtOnce) {
  const std::string large = "\0\0\x0e\2\x7f\xff\xff\xff\x7f\xff\xff\xff"s;
  EXPECT_NE(refusal([&] { parse(large); }).find("overflows"), std::string::npos);
  const std::string possible = "\0\0\x08\2\x7f\xff\xff\xff\x7f\xff\xff\xff"s;
  EXPECT_NE(refusal([&] { parse(possible + "123"); }).find("found 3"), std::string::npos);
}

TEST(Idx, TrailingBytesAreRefused) {
  EXPECT_EQ(refusal([] { parse(std::string(kPlain) + "x"); }),
            "f: byte 18: expected the end after the elements that the IDX shape declares, found 1 more bytes");
  EXPECT_THROW(parse(std::string(kGzip) + "x"), DataError);
}

TEST(Idx, EveryTruncationIsRefused) {
  for (const auto file : {kPlain, kGzip}) {
    for_each_truncation(bytes_from(file),
                        [](const ByteVector& part) { EXPECT_THROW(parse_idx(part, "f"), DataError); });
  }
}

TEST(Idx, EveryFlippedBitIsSurvived) {
  for_each_bit_flip(bytes_from(kPlain),
                    [](const ByteVector& file, std::size_t) { refuses([&] { parse_idx(file, "f"); }); });
  const Array expected = parse(kGzip);
  for_each_bit_flip(bytes_from(kGzip), [&](const ByteVector& file, std::size_t) {
    EXPECT_TRUE(refuses([&] {
      if (same(parse_idx(file, "f"), expected)) throw DataError("unchanged");  // dates and the like
    }));
  });
}

}  // namespace
}  // namespace ergodic
