#include "ergodic/format/inflate.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <new>
#include <utility>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kBestRatio = 1032;  // deflate's densest code: 258 bytes in 2 bits
// Data compresses by a factor of ten, and of a hundred where it is mostly zeros. Only a file that is made to fill the
// memory has both a higher factor and more than this.
constexpr std::size_t kPlausibleRatio = 200;
constexpr std::size_t kPlausibleSize = std::size_t{1} << 28;
constexpr std::size_t kFirstStep = std::size_t{1} << 16;
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // zlib counts in 32 bits

}  // namespace

void Inflater::End::operator()(z_stream_s* stream) const {
  inflateEnd(stream);
  delete stream;
}

Inflater::Inflater(std::span<const std::byte> compressed, DeflateWrapper wrapper, std::string where)
    : unread_(compressed), compressed_size_(compressed.size()), where_(std::move(where)) {
  constexpr int kWindow = 15;
  auto stream = std::make_unique<z_stream>();
  const int window = wrapper == DeflateWrapper::kGzip ? kWindow + 16 : -kWindow;  // zlib's way to name the wrapper
  if (inflateInit2(stream.get(), window) != Z_OK) throw std::bad_alloc();
  stream_.reset(stream.release());
}

void Inflater::fail(std::string_view problem) const {
  throw DataError(fmt::format("{}: byte {} of the inflated data: {}", where_, produced_, problem));
}

std::vector<std::byte> Inflater::take(std::size_t count, std::string_view what) {
  if (count / kBestRatio > compressed_size_ || (produced_ + count) / kBestRatio > compressed_size_) {
    fail(fmt::format("expected {} bytes of {}, more than {} compressed bytes can hold; the file is damaged", count,
                     what, compressed_size_));
  }
  if (produced_ + count > kPlausibleSize && (produced_ + count - kPlausibleSize) / kPlausibleRatio > compressed_size_) {
    fail(fmt::format(
        "expected {} bytes of {}, which is implausible in {} compressed bytes; if the file is right, save it "
        "without compression",
        count, what, compressed_size_));
  }
  std::vector<std::byte> out;
  while (out.size() < count) {
    const std::size_t before = out.size();
    const std::size_t after = std::min(count, std::max(kFirstStep, 2 * before));
    out.reserve(after);  // exactly: resize alone might double once more than needed
    out.resize(after);
    const std::size_t got = fill(std::span(out).subspan(before));
    if (before + got < after) {
      fail(fmt::format("expected {} bytes of {}, found {}; the file is truncated or damaged", count, what,
                       before + got));
    }
  }
  return out;
}

void Inflater::finish() {
  std::byte extra{};
  if (fill({&extra, 1}) != 0) fail("expected the end of the compressed data, found more; the file is damaged");
  if (!ended_) fail("the compressed data does not end; the file is truncated");
  const std::size_t rest = unread_.size() + stream_->avail_in;
  if (rest > 0) fail(fmt::format("expected the end of the file after the compressed data, found {} more bytes", rest));
}

/// Inflates until `out` is full, the stream ends or the input does; the number of bytes inflated.
std::size_t Inflater::fill(std::span<std::byte> out) {
  std::size_t filled = 0;
  while (!ended_ && filled < out.size()) {
    if (stream_->avail_in == 0) {
      const std::size_t step = std::min(unread_.size(), kMostAtOnce);
      stream_->next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(unread_.data()));  // zlib only reads it
      stream_->avail_in = static_cast<uInt>(step);
      unread_ = unread_.subspan(step);
    }
    const std::size_t room = std::min(out.size() - filled, kMostAtOnce);
    stream_->next_out = reinterpret_cast<Bytef*>(out.data() + filled);
    stream_->avail_out = static_cast<uInt>(room);
    const int code = inflate(stream_.get(), Z_NO_FLUSH);
    const std::size_t got = room - stream_->avail_out;
    filled += got;
    produced_ += got;
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    if (code == Z_STREAM_END) {
      ended_ = true;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      fail(fmt::format("the compressed data is damaged ({})", stream_->msg ? stream_->msg : "needs a dictionary"));
    } else if (got == 0 && stream_->avail_in == 0 && unread_.empty()) {
      break;
    }
  }
  return filled;
}

bool is_gzip(std::span<const std::byte> file) {
  return file.size() >= 2 && file[0] == std::byte{0x1f} && file[1] == std::byte{0x8b};
}

MaybeGzip::MaybeGzip(std::span<const std::byte> file, const std::string& where) : source_(ByteReader(file, where)) {
  if (is_gzip(file)) source_.emplace<Inflater>(file, DeflateWrapper::kGzip, where);
}

std::vector<std::byte> MaybeGzip::take(std::size_t count, std::string_view what) {
  std::vector<std::byte> out;
  if (auto* inflater = std::get_if<Inflater>(&source_)) {
    out = inflater->take(count, what);
  } else {
    const auto taken = std::get<ByteReader>(source_).take(count, what);
    out.assign(taken.begin(), taken.end());
  }
  position_ += count;
  return out;
}

void MaybeGzip::finish(std::string_view after) {
  if (auto* inflater = std::get_if<Inflater>(&source_)) {
    inflater->finish();
  } else {
    std::get<ByteReader>(source_).expect_end(after);
  }
}

}  // namespace ergodic
