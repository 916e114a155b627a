// PNG writing (reading is not offered). Grey or RGB, 8 bits a channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
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

}  // namespace ergodic
