// PNG: pictures are written grey or RGB, 8 bits a channel, and read as grey.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace ergodic {

/// height x width pixels of 1 (grey) or 3 (RGB) bytes, row-major.
struct Image {
  std::size_t width = 0;
  std::size_t height = 0;
  std::size_t channels = 1;
  std::vector<std::uint8_t> pixels;
};

std::vector<std::byte> encode_png(const Image& image);
void write_png(const std::filesystem::path& path, const Image& image);

/// The most pixels of a picture that is read.
inline constexpr std::size_t kMostPixels = std::size_t{1} << 26;

/// Any PNG as one channel: colours become their luminance, transparent pixels lie before black. DataError that begins
/// with `where` for a file that is damaged, or of more than kMostPixels.
Image decode_png(std::span<const std::byte> file, const std::string& where);

}  // namespace ergodic
