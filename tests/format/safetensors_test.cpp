#include "ergodic/format/safetensors.hpp"

#include <gtest/gtest.h>

#include "ergodic/format/bytes.hpp"
#include "format/damage.hpp"

namespace ergodic {
namespace {

using namespace std::string_view_literals;

Tensors sample() {
  Tensors tensors;
  tensors.arrays.emplace_back("weights", array_of<float>(ElementType::kFloat32, {2, 3}, {0, 1, 2, 3, 4, 5}));
  tensors.arrays.emplace_back("mask", array_of<std::uint8_t>(ElementType::kBool, {3}, {1, 0, 1}));
  tensors.arrays.emplace_back("empty", Array{ElementType::kInt64, {0, 4}, {}});
  tensors.arrays.emplace_back("step", array_of<std::uint64_t>(ElementType::kUInt64, {}, {77}));
  tensors.metadata = {{"written_by", "ergodic"}, {"note", "a \"quoted\" text"}};
  return tensors;
}

bool same_tensors(const Tensors& a, const Tensors& b) {
  if (a.metadata != b.metadata || a.arrays.size() != b.arrays.size()) return false;
  for (std::size_t i = 0; i < a.arrays.size(); ++i) {
    if (a.arrays[i].first != b.arrays[i].first || !same(a.arrays[i].second, b.arrays[i].second)) return false;
  }
  return true;
}

ByteVector file_with(std::string_view header, std::string_view data) {
  ByteVector file;
  append_integer<std::uint64_t>(file, header.size());
  append(file, as_bytes(header));
  append(file, as_bytes(data));
  return file;
}

std::string refused(const ByteVector& file) {
  return refusal([&] { parse_safetensors(file, "m.safetensors"); });
}

TEST(Safetensors, WhatIsWrittenIsRead) {
  const auto path = fresh_path("m.safetensors");
  for (const auto& tensors : {Tensors{}, sample()}) {
    write_safetensors(path, tensors);
    EXPECT_TRUE(same_tensors(read_safetensors(path), tensors));
  }
  Tensors all;
  for (const Array& array : arrays_of_all_types()) all.arrays.emplace_back(name_of(array.type), array);
  EXPECT_TRUE(same_tensors(parse_safetensors(encode_safetensors(all), "m"), all));
}

TEST(Safetensors, TheBytesAreFixed) {
  Tensors tensors;
  tensors.arrays.emplace_back("w", array_of<std::uint16_t>(ElementType::kUInt16, {2}, {1, 258}));
  tensors.metadata = {{"z", "2"}, {"a", "1"}};
  const auto expected =
      "\x58\0\0\0\0\0\0\0"
      R"({"__metadata__":{"a":"1","z":"2"},"w":{"dtype":"U16","shape":[2],"data_offsets":[0,4]}})"
      " \1\0\2\1"sv;
  EXPECT_EQ(encode_safetensors(tensors), bytes_from(expected));
}

TEST(Safetensors, FindsByName) {
  const auto tensors = sample();
  ASSERT_NE(tensors.find("mask"), nullptr);
  EXPECT_EQ(tensors.find("mask")->type, ElementType::kBool);
  EXPECT_EQ(tensors.find("nothing"), nullptr);
}

TEST(Safetensors, HeaderLengthsThatCannotBe) {
  EXPECT_EQ(refused(ByteVector(16, std::byte{0xff})),
            "m.safetensors: byte 0: not a safetensors file, or a truncated one: the header length 18446744073709551615 "
            "does not fit a file of 16 bytes");
  EXPECT_NE(refused(ByteVector(16)).find("expected a JSON header that begins with {"), std::string::npos);
  ByteVector huge(100'000'009 + 8, std::byte{' '});
  for (std::size_t i = 0; i < 8; ++i) huge[i] = static_cast<std::byte>(std::uint64_t{100'000'009} >> (8 * i));
  EXPECT_NE(refused(huge).find("more than the 16000000 allowed"), std::string::npos);
}

TEST(Safetensors, TheArraysMustTileTheData) {
  const auto two = [](std::string_view first, std::string_view second) {
    return R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)" + std::string(first) +
           R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" + std::string(second) + "}}";
  };
  EXPECT_NO_THROW(parse_safetensors(file_with(two("[0,4]", "[4,8]"), "12345678"), "m"));
  EXPECT_NO_THROW(parse_safetensors(file_with(two("[4,8]", "[0,4]"), "12345678"), "m"));
  EXPECT_THROW(parse_safetensors(file_with(two("[0,4]", "[0,4]"), "1234"), "m"), DataError);       // the same bytes
  EXPECT_THROW(parse_safetensors(file_with(two("[0,4]", "[3,7]"), "1234567"), "m"), DataError);    // overlap
  EXPECT_THROW(parse_safetensors(file_with(two("[0,4]", "[5,9]"), "123456789"), "m"), DataError);  // hole
  EXPECT_THROW(parse_safetensors(file_with(two("[1,5]", "[5,9]"), "123456789"), "m"), DataError);  // hole at first
  EXPECT_NE(refused(file_with(two("[0,4]", "[4,8]"), "123456789")).find("expected 8 bytes of data"), std::string::npos);
  EXPECT_NE(refused(file_with(two("[0,4]", "[4,8]"), "1234567")).find("found 7"), std::string::npos);
  EXPECT_THROW(parse_safetensors(file_with("{}", "1"), "m"), DataError);
}

TEST(Safetensors, OffsetsMustAgreeWithTheShape) {
  EXPECT_EQ(refused(file_with(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "1234")),
            "m.safetensors: byte 8: header, tensor \"w\": float32 (2,) takes 8 bytes, but data_offsets [0, 4] give 4");
  for (const auto* shape :
       {"[4294967296,4294967296]", "[9223372036854775808,2]", "[18446744073709551615]", "[4294967296,4294967296,0]"}) {
    const std::string json = R"({"w":{"dtype":"F32","shape":)" + std::string(shape) + R"(,"data_offsets":[0,0]}})";
    EXPECT_NE(refused(file_with(json, "")).find("more than 2^64"), std::string::npos) << shape;
  }
}

TEST(Safetensors, TheWriterRefusesWhatTheReaderWould) {
  auto tensors = sample();
  tensors.arrays.emplace_back("mask", Array{ElementType::kUInt8, {0}, {}});
  EXPECT_THROW(encode_safetensors(tensors), UsageError);
  tensors.arrays.back().first = "__metadata__";
  EXPECT_THROW(encode_safetensors(tensors), UsageError);
  tensors.arrays.back() = {"short", Array{ElementType::kUInt16, {2}, ByteVector(3)}};
  EXPECT_THROW(encode_safetensors(tensors), UsageError);
}

TEST(Safetensors, TheDigestSeesEverythingButItself) {
  const auto tensors = sample();
  const std::string digest = digest_of(tensors);
  EXPECT_EQ(digest.size(), 64u);
  const auto changed = [&](auto change) {
    auto other = sample();
    change(other);
    return digest_of(other) != digest;
  };
  EXPECT_FALSE(changed([](Tensors& t) { t.metadata["digest"] = "anything"; }));
  EXPECT_TRUE(changed([](Tensors& t) { t.metadata["note"] = ""; }));
  EXPECT_TRUE(changed([](Tensors& t) { t.metadata["more"] = ""; }));
  EXPECT_TRUE(changed([](Tensors& t) { t.arrays[0].first = "weight"; }));
  EXPECT_TRUE(changed([](Tensors& t) { t.arrays[0].second.type = ElementType::kInt32; }));
  EXPECT_TRUE(changed([](Tensors& t) { t.arrays[0].second.shape = {3, 2}; }));
  EXPECT_TRUE(changed([](Tensors& t) { t.arrays[0].second.bytes[5] ^= std::byte{1}; }));
  EXPECT_TRUE(changed([](Tensors& t) { std::swap(t.arrays[0], t.arrays[1]); }));
  EXPECT_TRUE(changed([](Tensors& t) { t.arrays.pop_back(); }));
}

TEST(Safetensors, EveryTruncationIsRefused) {
  for_each_truncation(encode_safetensors(sample()),
                      [](const ByteVector& part) { EXPECT_THROW(parse_safetensors(part, "m"), DataError); });
}

TEST(Safetensors, EveryFlippedBitIsRefusedOrSeenByTheDigest) {
  auto tensors = sample();
  tensors.metadata["digest"] = digest_of(tensors);
  for_each_bit_flip(encode_safetensors(tensors), [](const ByteVector& damaged, std::size_t) {
    EXPECT_TRUE(refuses([&] {
      const auto read = parse_safetensors(damaged, "m");
      const auto stored = read.metadata.find("digest");
      if (stored == read.metadata.end() || stored->second != digest_of(read)) throw DataError("seen");
    }));
  });
}

}  // namespace
}  // namespace ergodic
