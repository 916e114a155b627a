#include "ergodic/format/npz.hpp"

#include <gtest/gtest.h>

#include "format/damage.hpp"
#include "format/npz_writer.hpp"

namespace ergodic {
namespace {

using namespace std::string_view_literals;

// Written by numpy 1.24: savez_compressed(a=zeros(8, 'u1'), b=array([1, 2], '<i4')); savez(a=arange(3, dtype='u1')).
constexpr std::string_view kDeflated =
    "PK\003\004\024\000\000\000\010\000\000\000!\000\016\217\355\022G\000\000\000\210\000\000\000\005"
    "\000\024\000a.npy\001\000\020\000\210\000\000\000\000\000\000\000G\000\000\000\000\000\000\000"
    "\233\354\027\352\033\020\311\310P\306P\255\236\222Z\234\134\244n\245\240^Sj\250\256\243\240\236"
    "\226_TR\224\230\027\237_\224\222\012\022wK\314)N\005\212\027g$\026\244\002\371\032\026:\232:\012"
    "\265\012\024\000.\006(\000\000PK\003\004\024\000\000\000\010\000\000\000!\000\013\371\252-K\000"
    "\000\000\210\000\000\000\005\000\024\000b.npy\001\000\020\000\210\000\000\000\000\000\000\000K"
    "\000\000\000\000\000\000\000\233\354\027\352\033\020\311\310P\306P\255\236\222Z\234\134\244n\245"
    "\240n\223i\242\256\243\240\236\226_TR\224\230\027\237_\224\222\012\022wK\314)N\005\212\027g$\026"
    "\244\002\371\032F:\232:\012\265\012\024\000.F\006\006\006& \006\000PK\001\002\024\003\024\000"
    "\000\000\010\000\000\000!\000\016\217\355\022G\000\000\000\210\000\000\000\005\000\000\000\000"
    "\000\000\000\000\000\000\000\200\001\000\000\000\000a.npyPK\001\002\024\003\024\000\000\000\010"
    "\000\000\000!\000\013\371\252-K\000\000\000\210\000\000\000\005\000\000\000\000\000\000\000\000"
    "\000\000\000\200\001~\000\000\000b.npyPK\005\006\000\000\000\000\002\000\002\000f\000\000\000"
    "\000\001\000\000\000\000"sv;
constexpr std::string_view kStored =
    "PK\003\004\024\000\000\000\000\000\000\000!\000H\352f\354\203\000\000\000\203\000\000\000\005"
    "\000\024\000a.npy\001\000\020\000\203\000\000\000\000\000\000\000\203\000\000\000\000\000\000"
    "\000\223NUMPY\001\000v\000{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }             "
    "                                               \012\000\001\002PK\001\002\024\003\024\000\000"
    "\000\000\000\000\000!\000H\352f\354\203\000\000\000\203\000\000\000\005\000\000\000\000\000\000"
    "\000\000\000\000\000\200\001\000\000\000\000a.npyPK\005\006\000\000\000\000\001\000\001\0003\000"
    "\000\000\272\000\000\000\000\000"sv;

TEST(Npz, ReadsWhatNumpyWrites) {
  const auto deflated = parse_npz(bytes_from(kDeflated), "f.npz");
  ASSERT_EQ(deflated.size(), 2u);
  EXPECT_EQ(deflated[0].first, "a");
  EXPECT_TRUE(same(deflated[0].second, array_of(ElementType::kUInt8, {8}, std::vector<std::uint8_t>(8))));
  EXPECT_EQ(deflated[1].first, "b");
  EXPECT_TRUE(same(deflated[1].second, array_of<std::int32_t>(ElementType::kInt32, {2}, {1, 2})));
  const auto stored = parse_npz(bytes_from(kStored), "f.npz");
  ASSERT_EQ(stored.size(), 1u);
  EXPECT_TRUE(same(stored[0].second, array_of<std::uint8_t>(ElementType::kUInt8, {3}, {0, 1, 2})));
}

TEST(Npz, EveryTypeSurvives) {
  NamedArrays arrays;
  for (const Array& array : arrays_of_all_types()) arrays.emplace_back(name_of(array.type), array);
  const auto read = parse_npz(encode_npz(arrays), "all.npz");
  ASSERT_EQ(read.size(), arrays.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    EXPECT_EQ(read[i].first, arrays[i].first);
    EXPECT_TRUE(same(read[i].second, arrays[i].second)) << arrays[i].first;
  }
  EXPECT_TRUE(parse_npz(encode_npz({}), "none.npz").empty());
}

TEST(Npz, RefusalsNameTheMember) {
  auto file = bytes_from(kStored);
  file[60] ^= std::byte{1};
  const auto message = refusal([&] { parse_npz(file, "f.npz"); });
  EXPECT_EQ(message.find("f.npz: member \"a.npy\": "), 0u) << message;
  const Array array = array_of<std::uint8_t>(ElementType::kUInt8, {1}, {7});
  const auto twice = refusal([&] { parse_npz(encode_npz({{"x", array}, {"x", array}}), "f.npz"); });
  EXPECT_NE(twice.find("a second array is named \"x\""), std::string::npos) << twice;
}

TEST(Npz, OnlyTheArrayThatIsAskedForIsLookedAt) {
  const Array array = array_of<std::uint8_t>(ElementType::kUInt8, {1}, {7});
  const auto file = encode_zip({{"x.npy", encode_npy(array)}, {"other.npy", bytes_from("not an array")}});
  const NpzFile npz(file, "f.npz");
  EXPECT_EQ(npz.names(), (std::vector<std::string>{"x", "other"}));
  EXPECT_TRUE(same(npz.array(0), array));
  EXPECT_THROW(npz.array(1), DataError);
}

TEST(Npz, TheShapeNeedsNoMoreThanTheHeader) {
  for (const auto file : {kDeflated, kStored}) {
    const auto bytes = bytes_from(file);
    EXPECT_EQ(NpzFile(bytes, "f.npz").shape(0).size(), 1u);
  }
  // numpy.save of an array of two words; the elements are left out.
  const auto words = bytes_from("\x93NUMPY\1\0\x3c\0{'descr': '<U3', 'fortran_order': False, 'shape': (2, 1), }\n"sv);
  const auto file = encode_zip({{"words.npy", words}, {"other.npy", bytes_from("not an array")}});
  const NpzFile npz(file, "f.npz");
  EXPECT_EQ(npz.shape(0), (std::vector<std::size_t>{2, 1}));
  EXPECT_NE(refusal([&] { npz.array(0); }).find("found \"<U3\""), std::string::npos);
  EXPECT_NE(refusal([&] { npz.shape(1); }).find("f.npz: member \"other.npy\""), std::string::npos);
}

TEST(Npz, EveryTruncationIsRefused) {
  for (const auto file : {kDeflated, kStored}) {
    for_each_truncation(bytes_from(file),
                        [](const ByteVector& part) { EXPECT_THROW(parse_npz(part, "f"), DataError); });
  }
}

/// The checksum covers the members' content; names, dates and the order of arrays it does not.
TEST(Npz, NoFlippedBitChangesAnArrayUnnoticed) {
  for (const auto file : {kDeflated, kStored}) {
    const auto original = parse_npz(bytes_from(file), "f");
    for_each_bit_flip(bytes_from(file), [&](const ByteVector& damaged, std::size_t) {
      NamedArrays read;
      if (refuses([&] { read = parse_npz(damaged, "f"); })) return;
      ASSERT_LE(read.size(), original.size());
      for (std::size_t i = 0; i < read.size(); ++i) EXPECT_TRUE(same(read[i].second, original[i].second));
    });
  }
}

}  // namespace
}  // namespace ergodic
