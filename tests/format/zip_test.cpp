#include "ergodic/format/zip.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ergodic/format/bytes.hpp"
#include "format/damage.hpp"
#include "format/npz_writer.hpp"

namespace ergodic {
namespace {

using namespace std::string_view_literals;

// Written by Python's zipfile with its limit for zip64 set to 10 bytes: two stored npy files, w.npy and x.npy.
constexpr std::string_view kZip64 =
    "PK\003\004-\000\000\000\000\000\000\000!\000\325\3050\204\377\377\377\377\377\377\377\377\005"
    "\000\024\000w.npy\001\000\020\000\202\000\000\000\000\000\000\000\202\000\000\000\000\000\000"
    "\000\223NUMPY\001\000v\000{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }             "
    "                                               \012\003\004PK\003\004-\000\000\000\000\000\000"
    "\000!\000bv\313\307\377\377\377\377\377\377\377\377\005\000\024\000x.npy\001\000\020\000\201\000"
    "\000\000\000\000\000\000\201\000\000\000\000\000\000\000\223NUMPY\001\000v\000{'descr': '|u1', '"
    "fortran_order': False, 'shape': (1,), }                                                         "
    "   \012\005PK\001\002-\003-\000\000\000\000\000\000\000!\000\325\3050\204\377\377\377\377\377"
    "\377\377\377\005\000\024\000\000\000\000\000\000\000\000\000\200\001\000\000\000\000w.npy\001"
    "\000\020\000\202\000\000\000\000\000\000\000\202\000\000\000\000\000\000\000PK\001\002-\003-\000"
    "\000\000\000\000\000\000!\000bv\313\307\377\377\377\377\377\377\377\377\005\000\034\000\000\000"
    "\000\000\000\000\000\000\200\001\377\377\377\377x.npy\001\000\030\000\201\000\000\000\000\000"
    "\000\000\201\000\000\000\000\000\000\000\271\000\000\000\000\000\000\000PK\006\006,\000\000\000"
    "\000\000\000\000-\000-\000\000\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000\002"
    "\000\000\000\000\000\000\000\226\000\000\000\000\000\000\000q\001\000\000\000\000\000\000PK\006"
    "\007\000\000\000\000\007\002\000\000\000\000\000\000\001\000\000\000PK\005\006\000\000\000\000"
    "\002\000\002\000\226\000\000\000q\001\000\000\000\000"sv;

// A member "z" whose 1000 zeros are deflated to 11 bytes.
constexpr std::string_view kZeros =
    "PK\003\004\024\000\000\000\010\000\000\000!\000\200\027\013\006\013\000\000\000\350\003\000\000"
    "\001\000\000\000zc`\030\005\243`\024\014w\000\000PK\001\002\024\003\024\000\000\000\010\000\000"
    "\000!\000\200\027\013\006\013\000\000\000\350\003\000\000\001\000\000\000\000\000\000\000\000"
    "\000\000\000\200\001\000\000\000\000zPK\005\006\000\000\000\000\001\000\001\000/\000\000\000*"
    "\000\000\000\000\000"sv;

ByteVector small_zip() { return encode_zip({{"a", bytes_from("hello")}, {"b", bytes_from("world")}}); }

/// The position of the n-th occurrence of a record's signature.
std::size_t find(const ByteVector& file, std::string_view signature, int n = 0) {
  std::size_t at = as_text(file).find(signature);
  for (; n > 0; --n) at = as_text(file).find(signature, at + 1);
  return at;
}

void put32(ByteVector& file, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) file[at + i] = static_cast<std::byte>(value >> (8 * i));
}

void extract_all(const ByteVector& file) {
  for (const auto& member : parse_zip(file, "f")) extract(member, "f");
}

TEST(Zip, WhatIsWrittenIsRead) {
  const auto file = small_zip();
  const auto members = parse_zip(file, "f");
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members[1].name, "b");
  EXPECT_EQ(extract(members[0], "f"), bytes_from("hello"));
  EXPECT_EQ(extract(members[1], "f"), bytes_from("world"));
  EXPECT_TRUE(parse_zip(encode_zip({}), "f").empty());
}

TEST(Zip, ReadsZip64AndComments) {
  auto file = bytes_from(kZip64);
  auto members = parse_zip(file, "f");
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members[1].name, "x.npy");
  EXPECT_EQ(extract(members[1], "f").back(), std::byte{5});
  file = small_zip();
  file[file.size() - 2] = std::byte{3};
  append(file, as_bytes("PK!"));
  EXPECT_EQ(parse_zip(file, "f").size(), 2u);
}

TEST(Zip, AHugeNumberOfMembersEndsAtTheEndOfTheFile) {
  auto file = bytes_from(kZip64);
  const std::size_t end = find(file, "PK\6\6");
  std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(end) + 32, 8, std::byte{0xff});
  EXPECT_THROW(parse_zip(file, "f"), DataError);
}

TEST(Zip, MembersMayNotShareBytes) {
  auto file = encode_zip({{"a", bytes_from("hello")}});
  const std::size_t directory = find(file, "PK\1\2");
  const std::size_t end = find(file, "PK\5\6");
  const ByteVector entry(file.begin() + static_cast<std::ptrdiff_t>(directory),
                         file.begin() + static_cast<std::ptrdiff_t>(end));
  file.insert(file.begin() + static_cast<std::ptrdiff_t>(end), entry.begin(), entry.end());
  const std::size_t new_end = end + entry.size();
  file[new_end + 8] = file[new_end + 10] = std::byte{2};
  EXPECT_NE(refusal([&] { parse_zip(file, "f"); }).find("overlaps"), std::string::npos);
}

TEST(Zip, TheInflatedSizeMustBeTheDeclaredOne) {
  const auto with_size = [](std::uint32_t size) {
    auto file = bytes_from(kZeros);
    put32(file, find(file, "PK\1\2") + 24, size);
    return file;
  };
  EXPECT_NO_THROW(extract_all(with_size(1000)));
  EXPECT_NE(refusal([&] { extract_all(with_size(999)); }).find("found more"), std::string::npos);
  EXPECT_NE(refusal([&] { extract_all(with_size(1001)); }).find("found 1000"), std::string::npos);
  EXPECT_NE(refusal([&] { extract_all(with_size(0xfffffffe)); }).find("compressed bytes can hold"), std::string::npos);
  auto stored = small_zip();
  put32(stored, find(stored, "PK\1\2") + 24, 6);
  EXPECT_NE(refusal([&] { extract_all(stored); }).find("a stored member of 5 bytes"), std::string::npos);
}

TEST(Zip, ForeignMethodsAndEncryptionAreRefused) {
  auto file = small_zip();
  file[find(file, "PK\1\2") + 8] |= std::byte{1};
  EXPECT_NE(refusal([&] { parse_zip(file, "f"); }).find("encrypted"), std::string::npos);
  file = small_zip();
  file[find(file, "PK\1\2") + 10] = std::byte{12};
  EXPECT_NE(refusal([&] { parse_zip(file, "f"); }).find("found 12"), std::string::npos);
}

TEST(Zip, TheLocalHeaderMustAgree) {
  auto file = small_zip();
  put32(file, find(file, "PK\1\2", 1) + 42, 0);  // b's entry now points to a
  EXPECT_NE(refusal([&] { parse_zip(file, "f"); }).find("found that of \"a\""), std::string::npos);
  put32(file, find(file, "PK\1\2", 1) + 42, 3);
  EXPECT_NE(refusal([&] { parse_zip(file, "f"); }).find("expected local header"), std::string::npos);
  put32(file, find(file, "PK\1\2", 1) + 42, 4000);
  EXPECT_THROW(parse_zip(file, "f"), DataError);
  EXPECT_NE(
      refusal([] { parse_zip(bytes_from("no archive, but longer than the end record"), "f"); }).find("not an npz file"),
      std::string::npos);
}

TEST(Zip, EveryTruncationIsRefused) {
  for (const auto& file : {small_zip(), bytes_from(kZip64), bytes_from(kZeros)}) {
    for_each_truncation(file, [](const ByteVector& part) { EXPECT_THROW(extract_all(part), DataError); });
  }
}

TEST(Zip, EveryFlippedBitIsSurvived) {
  for (const auto& file : {small_zip(), bytes_from(kZip64), bytes_from(kZeros)}) {
    for_each_bit_flip(file, [](const ByteVector& damaged, std::size_t) { refuses([&] { extract_all(damaged); }); });
  }
}

}  // namespace
}  // namespace ergodic
