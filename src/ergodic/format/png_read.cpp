// Reading of PNG pictures, with libpng's simplified interface: it frees what it holds, and its errors do not jump.
#include <fmt/format.h>
#include <png.h>

#include "ergodic/core/error.hpp"
#include "ergodic/format/png.hpp"

namespace ergodic {
namespace {

struct Decoder {
  png_image image{};

  Decoder() { image.version = PNG_IMAGE_VERSION; }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { png_image_free(&image); }
};

}  // namespace

Image decode_png(std::span<const std::byte> file, const std::string& where) {
  Decoder decoder;
  png_image& image = decoder.image;
  if (!png_image_begin_read_from_memory(&image, file.data(), file.size())) {
    throw DataError(fmt::format("{}: not a PNG picture that can be read: {}", where, image.message));
  }
  Image out{image.width, image.height, 1, {}};
  if (out.width > kMostPixels / out.height) {
    throw DataError(fmt::format("{}: a picture of {}x{} has more than {} pixels; scale it down first", where,
                                out.height, out.width, kMostPixels));
  }
  image.format = PNG_FORMAT_GRAY;
  out.pixels.resize(PNG_IMAGE_SIZE(image));
  const png_color black{0, 0, 0};
  if (!png_image_finish_read(&image, &black, out.pixels.data(), 0, nullptr)) {
    throw DataError(fmt::format("{}: a PNG picture that is damaged: {}", where, image.message));
  }
  return out;
}

}  // namespace ergodic
