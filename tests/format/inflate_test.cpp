#include "ergodic/format/inflate.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include "format/damage.hpp"

namespace ergodic {
namespace {

ByteVector deflated(const ByteVector& content, int window_bits) {
  ByteVector out(content.size() + 1000);
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}
ByteVector bare(const ByteVector& content) { return deflated(content, -15); }
ByteVector gzipped(const ByteVector& content) { return deflated(content, 15 + 16); }

ByteVector noise(std::size_t size) {
  ByteVector bytes(size);
  unsigned state = 1;
  for (auto& b : bytes) b = static_cast<std::byte>((state = state * 1664525u + 1013904223u) >> 24);
  return bytes;
}

TEST(Inflate, GivesBackWhatWasDeflatedInAnyPieces) {
  for (const std::size_t size : {0u, 1u, 65536u, 65537u, 500000u}) {
    const auto content = noise(size);
    const auto bare_file = bare(content);
    Inflater whole(bare_file, DeflateWrapper::kNone, "f");
    EXPECT_EQ(whole.take(size, "data"), content);
    EXPECT_NO_THROW(whole.finish());
    const auto gzip_file = gzipped(content);
    Inflater pieces(gzip_file, DeflateWrapper::kGzip, "f");
    ByteVector joined = pieces.take(size / 3, "data");
    for (const std::byte b : pieces.take(size - size / 3, "data")) joined.push_back(b);
    EXPECT_EQ(joined, content);
    EXPECT_NO_THROW(pieces.finish());
  }
}

TEST(Inflate, ZerosAtTheBestRatioPass) {
  const auto file = bare(ByteVector(50'000'000));
  Inflater inflater(file, DeflateWrapper::kNone, "f");
  EXPECT_EQ(inflater.take(50'000'000, "zeros").size(), 50'000'000u);
  EXPECT_NO_THROW(inflater.finish());
}

TEST(Inflate, AnImpossiblePromiseIsRefusedBeforeAnythingIsAllocated) {
  const auto file = bare(noise(100));
  for (const std::size_t promised : {std::size_t{1} << 20, std::size_t{1} << 62, ~std::size_t{0}}) {
    Inflater inflater(file, DeflateWrapper::kNone, "f");
    EXPECT_NE(refusal([&] { inflater.take(promised, "data"); }).find("compressed bytes can hold"), std::string::npos);
  }
}

/// A file of 1 MB might hold a gigabyte of zeros: data never does, and what is made to fill the memory always.
TEST(Inflate, AnImplausiblePromiseIsRefusedBeforeAnythingIsAllocated) {
  const auto content = noise(1 << 20);
  const auto file = bare(content);
  Inflater inflater(file, DeflateWrapper::kNone, "f");
  EXPECT_NE(refusal([&] { inflater.take(std::size_t{1} << 30, "data"); }).find("implausible"), std::string::npos);
  EXPECT_EQ(inflater.take(100, "data"), ByteVector(content.begin(), content.begin() + 100));
  EXPECT_NE(refusal([&] { inflater.take(std::size_t{1} << 28, "data"); }).find("found 1048476"), std::string::npos);
}

TEST(Inflate, TooFewTooManyAndTrailingBytes) {
  auto file = gzipped(noise(100));
  Inflater few(file, DeflateWrapper::kGzip, "f");
  EXPECT_EQ(
      refusal([&] { few.take(101, "data"); }),
      "f: byte 100 of the inflated data: expected 101 bytes of data, found 100; the file is truncated or damaged");
  Inflater many(file, DeflateWrapper::kGzip, "f");
  many.take(99, "data");
  EXPECT_NE(refusal([&] { many.finish(); }).find("found more"), std::string::npos);
  file.push_back(std::byte{0});
  Inflater trailing(file, DeflateWrapper::kGzip, "f");
  trailing.take(100, "data");
  EXPECT_NE(refusal([&] { trailing.finish(); }).find("found 1 more bytes"), std::string::npos);
}

TEST(Inflate, EveryTruncationIsRefused) {
  const auto content = noise(40);
  for_each_truncation(gzipped(content), [](const ByteVector& part) {
    Inflater inflater(part, DeflateWrapper::kGzip, "f");
    EXPECT_TRUE(refuses([&] {
      inflater.take(40, "data");
      inflater.finish();
    }));
  });
}

TEST(Inflate, NoFlippedBitChangesTheContentUnnoticed) {
  const auto content = noise(40);
  for_each_bit_flip(gzipped(content), [&](const ByteVector& file, std::size_t) {
    Inflater inflater(file, DeflateWrapper::kGzip, "f");
    EXPECT_TRUE(refuses([&] {
      const auto found = inflater.take(40, "data");
      inflater.finish();
      if (found == content) throw DataError("unchanged");
    }));
  });
}

}  // namespace
}  // namespace ergodic
