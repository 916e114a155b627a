#include "ergodic/format/bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

constexpr std::string_view kBlanks = " \t";

}  // namespace

void fail_at(const std::string& where, std::size_t byte, std::string_view problem) {
  throw DataError(fmt::format("{}: byte {}: {}", where, byte, problem));
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string result = "\"";
  for (const char c : text.substr(0, kLongest)) {
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x20 && code < 0x7f) {
      result += c;
    } else {
      result += fmt::format("\\x{:02x}", code);
    }
  }
  return result + (text.size() > kLongest ? "...\"" : "\"");
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

std::span<const std::byte> ByteReader::take(std::size_t count, std::string_view what) {
  if (count > remaining()) {
    fail(fmt::format("expected {} bytes of {}, found {}; the file is truncated or damaged", count, what, remaining()));
  }
  const auto taken = bytes_.subspan(position_, count);
  position_ += count;
  return taken;
}

void ByteReader::seek(std::size_t position, std::string_view what) {
  if (position > bytes_.size()) {
    fail(fmt::format("expected {} at byte {}, but the file has {} bytes; it is truncated or damaged", what, position,
                     bytes_.size()));
  }
  position_ = position;
}

void ByteReader::expect_end(std::string_view after) const {
  if (remaining() > 0) fail(fmt::format("expected the end after {}, found {} more bytes", after, remaining()));
}

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

bool TextLines::next() {
  if (rest_.empty()) return false;
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  line_ = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  ++number_;
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  return true;
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> out;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    if (line.empty()) return out;
    out.push_back(line.substr(0, std::min(line.find_first_of(kBlanks), line.size())));
    line.remove_prefix(out.back().size());
  }
}

void append(std::vector<std::byte>& bytes, std::span<const std::byte> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

void reverse_elements(std::span<std::byte> bytes, std::size_t element_size) {
  if (element_size < 2) return;
  for (std::size_t at = 0; at + element_size <= bytes.size(); at += element_size) {
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + element_size));
  }
}

std::optional<std::size_t> byte_count(ElementType type, std::span<const std::size_t> shape) {
  bool empty = false;
  std::size_t product = size_of(type);
  for (const std::size_t extent : shape) {
    if (extent == 0) {
      empty = true;
    } else if (product > std::numeric_limits<std::size_t>::max() / extent) {
      return std::nullopt;
    } else {
      product *= extent;
    }
  }
  return empty ? 0 : product;
}

std::string shape_text(std::span<const std::size_t> shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

void check_bools(ElementType type, std::span<const std::byte> data, const std::string& where, std::size_t begin) {
  if (type != ElementType::kBool) return;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto value = std::to_integer<unsigned>(data[i]);
    if (value > 1) fail_at(where, begin + i, fmt::format("expected a bool, 0 or 1, found {}", value));
  }
}

void require_whole(const Array& array, std::string_view name) {
  const auto expected = byte_count(array.type, array.shape);
  require(array.shape.size() <= kMaxAxes,
          fmt::format("array {} has {} axes; at most {} can be written", excerpt(name), array.shape.size(), kMaxAxes));
  require(expected == array.bytes.size(),
          fmt::format("array {} of {} {} holds {} bytes, which is not what its shape asks for", excerpt(name),
                      name_of(array.type), shape_text(array.shape), array.bytes.size()));
}

}  // namespace ergodic
