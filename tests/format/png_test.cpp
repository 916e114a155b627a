#include "ergodic/format/png.hpp"

#include <gtest/gtest.h>
#include <png.h>
#include <zlib.h>

#include "ergodic/format/file.hpp"
#include "format/damage.hpp"

namespace ergodic {
namespace {

/// The pixels by libpng's own simple reader.
std::vector<std::uint8_t> decoded(const ByteVector& file, const Image& original) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&image, file.data(), file.size()), 0) << image.message;
  EXPECT_EQ(image.width, original.width);
  EXPECT_EQ(image.height, original.height);
  EXPECT_EQ(image.format, original.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB);
  std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(image));
  EXPECT_NE(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr), 0) << image.message;
  return pixels;
}

Image pattern(std::size_t width, std::size_t height, std::size_t channels) {
  Image image{width, height, channels, std::vector<std::uint8_t>(width * height * channels)};
  for (std::size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = static_cast<std::uint8_t>(i * 31);
  return image;
}

TEST(Png, GreyAndColourSurvive) {
  for (const auto& image : {pattern(1, 1, 1), pattern(28, 28, 1), pattern(7, 5, 3), pattern(300, 200, 3)}) {
    EXPECT_EQ(decoded(encode_png(image), image), image.pixels);
  }
}

TEST(Png, TheFileIsTheEncoding) {
  const auto path = fresh_path("image.png");
  const auto image = pattern(3, 2, 1);
  write_png(path, image);
  EXPECT_EQ(read_file(path), encode_png(image));
}

TEST(Png, PicturesAreReadAsGrey) {
  for (const auto& image : {pattern(1, 1, 1), pattern(28, 27, 1)}) {
    const Image read = decode_png(encode_png(image), "x.png");
    EXPECT_EQ(read.width, image.width);
    EXPECT_EQ(read.height, image.height);
    EXPECT_EQ(read.channels, 1u);
    EXPECT_EQ(read.pixels, image.pixels);
  }
  EXPECT_EQ(decode_png(encode_png({2, 1, 3, {255, 255, 255, 0, 0, 0}}), "x.png").pixels,
            (std::vector<std::uint8_t>{255, 0}));
}

TEST(Png, DamagedPicturesAreRefused) {
  const ByteVector file = encode_png(pattern(5, 4, 3));
  EXPECT_TRUE(refusal([&] { decode_png(bytes_from("no picture"), "x.png"); }).starts_with("x.png: "));
  for_each_truncation(file, [](const ByteVector& part) { refuses([&] { decode_png(part, "f"); }); });
  for_each_bit_flip(file, [](const ByteVector& damaged, std::size_t) { refuses([&] { decode_png(damaged, "f"); }); });
}

TEST(Png, APictureThatClaimsTooManyPixelsIsRefusedBeforeItIsRead) {
  ByteVector file = encode_png(pattern(3, 3, 1));
  for (const std::size_t at : {18u, 22u}) file[at] = std::byte{0x7f};  // width and height
  // The checksum of the header, computed anew.
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(file.data()) + 12, 17);
  for (std::size_t k = 0; k < 4; ++k) file[29 + k] = static_cast<std::byte>(crc >> (24 - 8 * k));
  EXPECT_NE(refusal([&] { decode_png(file, "x.png"); }).find("pixels"), std::string::npos);
}

TEST(Png, ImpossibleImagesAreRefused) {
  EXPECT_THROW(encode_png({0, 1, 1, {}}), UsageError);
  EXPECT_THROW(encode_png({1, 0, 1, {}}), UsageError);
  EXPECT_THROW(encode_png({1, 1, 2, {0, 0}}), UsageError);
  EXPECT_THROW(encode_png({2, 2, 1, {0, 0, 0}}), UsageError);
  EXPECT_THROW(encode_png({std::size_t{1} << 32, std::size_t{1} << 32, 1, {}}), UsageError);
}

}  // namespace
}  // namespace ergodic
