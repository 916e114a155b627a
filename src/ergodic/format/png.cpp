#include "ergodic/format/png.hpp"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/format/file.hpp"

namespace ergodic {
namespace {

/// What libpng writes to, and what it says when it fails. Its errors jump over our frames, so that nothing with a
/// destructor may live in a frame between; all that must be freed is held here, outside.
struct Encoder {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::vector<std::byte> output;
  std::array<char, 128> problem{};

  Encoder() = default;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder() { png_destroy_write_struct(&png, &info); }
};

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
  auto& encoder = *static_cast<Encoder*>(png_get_error_ptr(png));
  const std::string_view text(message);
  std::copy_n(text.begin(), std::min(text.size(), encoder.problem.size() - 1), encoder.problem.begin());
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

/// No exception may pass through libpng's C frames: running out of memory becomes an error of its own kind.
void on_write(png_structp png, png_bytep data, png_size_t size) {
  bool full = false;
  try {
    auto& output = static_cast<Encoder*>(png_get_io_ptr(png))->output;
    const auto* first = reinterpret_cast<const std::byte*>(data);
    output.insert(output.end(), first, first + size);
  } catch (const std::exception&) {
    full = true;
  }
  if (full) png_error(png, "out of memory");
}

void on_flush(png_structp) {}

/// False if libpng failed; the reason is then in the encoder.
bool encode(Encoder& encoder, const Image& image) {
  if (setjmp(png_jmpbuf(encoder.png)) != 0) return false;
  png_set_write_fn(encoder.png, &encoder, on_write, on_flush);
  png_set_user_limits(encoder.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_IHDR(encoder.png, encoder.info, static_cast<png_uint_32>(image.width), static_cast<png_uint_32>(image.height),
               8, image.channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(encoder.png, encoder.info);
  for (std::size_t row = 0; row < image.height; ++row) {
    png_write_row(encoder.png, image.pixels.data() + row * image.width * image.channels);
  }
  png_write_end(encoder.png, nullptr);
  return true;
}

void require_drawable(const Image& image) {
  require(image.channels == 1 || image.channels == 3,
          fmt::format("an image has 1 (grey) or 3 (RGB) channels, not {}", image.channels));
  require(image.width > 0 && image.height > 0 && image.width <= PNG_UINT_31_MAX / image.channels &&
              image.height <= PNG_UINT_31_MAX,
          fmt::format("a PNG of {} x {} pixels is impossible", image.width, image.height));
  require(image.pixels.size() == image.width * image.height * image.channels,
          fmt::format("an image of {} x {} pixels with {} channels has {} bytes, not {}", image.width, image.height,
                      image.channels, image.width * image.height * image.channels, image.pixels.size()));
}

}  // namespace

std::vector<std::byte> encode_png(const Image& image) {
  require_drawable(image);
  Encoder encoder;
  encoder.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &encoder, on_error, on_warning);
  if (encoder.png) encoder.info = png_create_info_struct(encoder.png);
  if (!encoder.png || !encoder.info) throw std::bad_alloc();
  if (!encode(encoder, image)) throw IoError(fmt::format("cannot encode a PNG: {}", encoder.problem.data()));
  return std::move(encoder.output);
}

void write_png(const std::filesystem::path& path, const Image& image) { write_file(path, encode_png(image)); }

}  // namespace ergodic
