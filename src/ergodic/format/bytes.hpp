// Bytes: a cursor that never leaves its file, byte order, sizes that cannot overflow, and lines of text. Shared by all
// the formats.
//
// Every reader works on the whole file in memory, so "does it fit?" is always asked before anything is allocated.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ergodic/format/array.hpp"

namespace ergodic {

enum class ByteOrder : std::uint8_t { kLittle, kBig };

/// More axes than any honest array has (numpy allows 64), and few enough that a hostile shape stays small.
inline constexpr std::size_t kMaxAxes = 64;

/// Throws DataError "where: byte N: problem".
[[noreturn]] void fail_at(const std::string& where, std::size_t byte, std::string_view problem);

/// Text from a file, made fit for a message: in quotes, cut at 40 characters, unprintable bytes as \xNN.
std::string excerpt(std::string_view text);

std::string_view as_text(std::span<const std::byte> bytes);
std::span<const std::byte> as_bytes(std::string_view text);

/// Reads forward through the bytes of a file; every step is checked against its end.
class ByteReader {
 public:
  /// `where` is the file's name in messages. The bytes must outlive the reader.
  ByteReader(std::span<const std::byte> bytes, std::string where) : bytes_(bytes), where_(std::move(where)) {}

  std::size_t position() const { return position_; }
  std::size_t remaining() const { return bytes_.size() - position_; }
  const std::string& where() const { return where_; }

  /// The next `count` bytes; DataError that names `what` if the file has fewer.
  std::span<const std::byte> take(std::size_t count, std::string_view what);
  void seek(std::size_t position, std::string_view what);
  void expect_end(std::string_view after) const;
  [[noreturn]] void fail(std::string_view problem) const { fail_at(where_, position_, problem); }

  template <std::unsigned_integral T>
  T integer(ByteOrder order, std::string_view what) {
    const auto raw = take(sizeof(T), what);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      const std::size_t from_high = order == ByteOrder::kBig ? i : sizeof(T) - 1 - i;
      value = value << 8 | std::to_integer<std::uint64_t>(raw[from_high]);
    }
    return static_cast<T>(value);
  }

 private:
  std::span<const std::byte> bytes_;
  std::string where_;
  std::size_t position_ = 0;
};

/// The text without the mark that some editors and spreadsheets put before UTF-8.
std::string_view without_byte_order_mark(std::string_view text);

/// Gives the lines of a text one after the other, without their ends (LF or CRLF).
class TextLines {
 public:
  explicit TextLines(std::string_view text) : rest_(without_byte_order_mark(text)) {}

  bool next();
  std::string_view line() const { return line_; }
  std::size_t number() const { return number_; }  ///< counted from 1

 private:
  std::string_view rest_, line_;
  std::size_t number_ = 0;
};

/// The text without the blanks and tabs at its beginning and end.
std::string_view without_blanks(std::string_view text);

/// The words of a line, between blanks and tabs.
std::vector<std::string_view> words_of(std::string_view line);

/// Appends an integer in little-endian order.
template <std::unsigned_integral T>
void append_integer(std::vector<std::byte>& bytes, T value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof(T));
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes[at + i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
  }
}
void append(std::vector<std::byte>& bytes, std::span<const std::byte> more);

/// Turns each element of big-endian data round, in place.
void reverse_elements(std::span<std::byte> bytes, std::size_t element_size);

/// Bytes that an array of this shape takes; nothing if they, or the extents other than zero, overflow.
std::optional<std::size_t> byte_count(ElementType type, std::span<const std::size_t> shape);

/// "(2, 3)", as Python writes a shape.
std::string shape_text(std::span<const std::size_t> shape);

/// A bool on disk must be 0 or 1: any other value is undefined once it is read as a C++ bool. `begin` is the
/// position of the data in its file. Other types pass.
void check_bools(ElementType type, std::span<const std::byte> data, const std::string& where, std::size_t begin);

/// What a writer asks of an array: as many bytes as its type and shape say. UsageError otherwise.
void require_whole(const Array& array, std::string_view name);

}  // namespace ergodic
