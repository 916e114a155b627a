// Inflating with bounds: deflate streams, bare (RFC 1951) or in gzip (RFC 1952), over zlib.
//
// A compressed file may promise far more than it holds, or hold far more than its size lets one think. So the caller
// says how many bytes it expects, by a header that it has inflated first. A promise that deflate cannot keep, or only
// for a file that is made to fill the memory, is refused at once, and memory grows only with the bytes that really
// arrive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ergodic/format/bytes.hpp"

struct z_stream_s;

namespace ergodic {

enum class DeflateWrapper : std::uint8_t { kNone, kGzip };

class Inflater {
 public:
  /// `where` names the file in messages. The compressed bytes must outlive the inflater.
  Inflater(std::span<const std::byte> compressed, DeflateWrapper wrapper, std::string where);

  /// Exactly the next `count` inflated bytes; DataError that names `what` if there are fewer, or if so many are not to
  /// be expected: beyond 256 MiB, more than 200 for each compressed byte.
  std::vector<std::byte> take(std::size_t count, std::string_view what);
  /// DataError unless the stream ends here, its checksum holds, and nothing follows it.
  void finish();

 private:
  struct End {
    void operator()(z_stream_s* stream) const;
  };

  std::size_t fill(std::span<std::byte> out);
  [[noreturn]] void fail(std::string_view problem) const;

  std::unique_ptr<z_stream_s, End> stream_;
  std::span<const std::byte> unread_;  ///< compressed bytes not yet handed to zlib
  std::size_t compressed_size_;
  std::size_t produced_ = 0;
  bool ended_ = false;
  std::string where_;
};

/// Whether a file begins as those that gzip writes.
bool is_gzip(std::span<const std::byte> file);

/// A file that is compressed by gzip, or is not, read forward as if it were not.
class MaybeGzip {
 public:
  /// `where` names the file in messages. Its bytes must outlive this.
  MaybeGzip(std::span<const std::byte> file, const std::string& where);

  /// Exactly the next `count` bytes; DataError that names `what` if there are fewer, or cannot be so many.
  std::vector<std::byte> take(std::size_t count, std::string_view what);
  /// DataError unless the file ends here, after what is named.
  void finish(std::string_view after);
  /// How many bytes were taken.
  std::size_t position() const { return position_; }

 private:
  std::variant<ByteReader, Inflater> source_;
  std::size_t position_ = 0;
};

}  // namespace ergodic
