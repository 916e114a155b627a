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
#include <vector>

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

}  // namespace ergodic
