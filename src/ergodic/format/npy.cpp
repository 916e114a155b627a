#include "ergodic/format/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

#include "ergodic/format/bytes.hpp"
#include "ergodic/format/file.hpp"

namespace ergodic {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::array<std::pair<std::string_view, ElementType>, 11> kTypes = {{
    {"b1", ElementType::kBool},
    {"u1", ElementType::kUInt8},
    {"i1", ElementType::kInt8},
    {"u2", ElementType::kUInt16},
    {"i2", ElementType::kInt16},
    {"u4", ElementType::kUInt32},
    {"i4", ElementType::kInt32},
    {"u8", ElementType::kUInt64},
    {"i8", ElementType::kInt64},
    {"f4", ElementType::kFloat32},
    {"f8", ElementType::kFloat64},
}};

struct Header {
  std::string_view descr;    ///< the type, a view on the file
  std::size_t descr_at = 0;  ///< the byte of the file where it stands
  bool fortran = false;
  std::vector<std::size_t> shape;
};

struct NumberType {
  ElementType type;
  ByteOrder order;
};

NumberType number_type(const Header& header, const std::string& where) {
  const std::string_view descr = header.descr;
  const auto found = std::find_if(kTypes.begin(), kTypes.end(),
                                  [&](const auto& entry) { return !descr.empty() && entry.first == descr.substr(1); });
  const bool known = found != kTypes.end();
  const bool readable = known && (descr[0] == '<' || descr[0] == '>' || (descr[0] == '|' && descr[2] == '1'));
  if (!readable) {
    fail_at(where, header.descr_at,
            fmt::format("npy header: expected a type among bool, int8 to int64, uint8 to uint64, float32 and float64, "
                        "found {}; convert it with astype",
                        excerpt(descr)));
  }
  return {found->second, descr[0] == '>' ? ByteOrder::kBig : ByteOrder::kLittle};
}

/// Reads the header's Python dictionary: exactly the three keys that numpy writes, and no other Python.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::size_t begin, const std::string& where)
      : text_(text), begin_(begin), where_(where) {}

  Header parse() {
    expect('{');
    while (!accept('}')) {
      parse_item();
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_blanks();
    if (at_ < text_.size()) fail("the end of the header");
    if (!descr_seen_ || !order_seen_ || !shape_seen_) fail("the keys 'descr', 'fortran_order' and 'shape'");
    return header_;
  }

 private:
  void parse_item() {
    const std::size_t key_at = at_;
    const std::string_view key = string("a key in quotes");
    expect(':');
    if (key == "descr" && !std::exchange(descr_seen_, true)) {
      skip_blanks();
      header_.descr_at = begin_ + at_;
      header_.descr = string("a simple type such as '<f4' (records cannot be read)");
    } else if (key == "fortran_order" && !std::exchange(order_seen_, true)) {
      header_.fortran = boolean();
    } else if (key == "shape" && !std::exchange(shape_seen_, true)) {
      header_.shape = tuple();
    } else {
      at_ = key_at;
      fail("'descr', 'fortran_order' and 'shape', each once");
    }
  }

  std::string_view string(std::string_view expected) {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) fail(expected);
    const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return value;
  }

  bool boolean() {
    skip_blanks();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    fail("True or False");
  }

  std::vector<std::size_t> tuple() {
    std::vector<std::size_t> extents;
    expect('(');
    bool comma = true;
    while (!accept(')')) {
      if (!comma || extents.size() == kMaxAxes) fail(comma ? "at most 64 axes" : "',' or ')'");
      extents.push_back(number());
      comma = accept(',');
    }
    if (extents.size() == 1 && !comma) fail("a tuple such as (3,) for the shape");
    return extents;
  }

  std::size_t number() {
    skip_blanks();
    std::size_t value = 0;
    const char* first = text_.data() + at_;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value);
    if (error != std::errc()) fail("a whole number below 2^64");
    at_ += static_cast<std::size_t>(end - first);
    return value;
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip_blanks();
    const bool there = at_ < text_.size() && text_[at_] == c;
    if (there) ++at_;
    return there;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("'") + c + "'");
  }
  [[noreturn]] void fail(std::string_view expected) const {
    fail_at(where_, begin_ + at_,
            fmt::format("npy header: expected {}, found {}", expected, excerpt(text_.substr(at_))));
  }

  std::string_view text_;
  std::size_t begin_;
  const std::string& where_;
  std::size_t at_ = 0;
  Header header_;
  bool descr_seen_ = false;
  bool order_seen_ = false;
  bool shape_seen_ = false;
};

Header read_header(ByteReader& file) {
  const auto magic = as_text(file.take(std::min(kMagic.size(), file.remaining()), "the npy signature"));
  if (magic != kMagic) {
    fail_at(file.where(), 0, fmt::format("expected \"\\x93NUMPY\", found {}; this is not an npy file", excerpt(magic)));
  }
  const auto major = file.integer<std::uint8_t>(ByteOrder::kLittle, "the npy version");
  const auto minor = file.integer<std::uint8_t>(ByteOrder::kLittle, "the npy version");
  if (major < 1 || major > 3 || minor != 0) {
    fail_at(file.where(), kMagic.size(),
            fmt::format("expected npy version 1.0, 2.0 or 3.0, found {}.{}; save the file again with a current numpy",
                        major, minor));
  }
  const std::size_t length = major == 1 ? file.integer<std::uint16_t>(ByteOrder::kLittle, "the header length")
                                        : file.integer<std::uint32_t>(ByteOrder::kLittle, "the header length");
  const std::size_t begin = file.position();
  return HeaderParser(as_text(file.take(length, "the npy header")), begin, file.where()).parse();
}

/// The elements in C order, given in Fortran order (first index fastest).
std::vector<std::byte> from_fortran_order(std::span<const std::byte> source, std::size_t element,
                                          std::span<const std::size_t> shape) {
  std::vector<std::size_t> stride(shape.size(), element);
  for (std::size_t axis = 1; axis < shape.size(); ++axis) stride[axis] = stride[axis - 1] * shape[axis - 1];
  std::vector<std::size_t> index(shape.size());
  std::vector<std::byte> result(source.size());
  std::size_t from = 0;
  for (std::size_t to = 0; to < source.size(); to += element) {
    std::copy_n(source.data() + from, element, result.data() + to);
    for (std::size_t axis = shape.size(); axis-- > 0;) {  // count up in C order, last axis fastest
      from += stride[axis];
      if (++index[axis] < shape[axis]) break;
      from -= stride[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return result;
}

}  // namespace

std::vector<std::size_t> npy_shape(std::span<const std::byte> start, const std::string& where) {
  ByteReader file(start, where);
  return read_header(file).shape;
}

Array parse_npy(std::span<const std::byte> bytes, const std::string& where) {
  ByteReader file(bytes, where);
  Header header = read_header(file);
  const auto [type, order] = number_type(header, where);
  const std::size_t begin = file.position();
  const auto count = byte_count(type, header.shape);
  if (!count || *count != file.remaining()) {
    file.fail(fmt::format("expected the {} bytes of {} {}, found {}; the file is truncated or damaged",
                          count ? std::to_string(*count) : "more than 2^64", name_of(type), shape_text(header.shape),
                          file.remaining()));
  }
  const auto data = file.take(*count, "elements");
  check_bools(type, data, where, begin);
  Array array{type, std::move(header.shape), {}};
  if (header.fortran) {
    array.bytes = from_fortran_order(data, size_of(type), array.shape);
  } else {
    array.bytes.assign(data.begin(), data.end());
  }
  if (order == ByteOrder::kBig) reverse_elements(array.bytes, size_of(type));
  return array;
}

std::vector<std::byte> encode_npy(const Array& array) {
  require_whole(array, "npy");
  const auto type =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& entry) { return entry.second == array.type; });
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': {}, }}",
                                   size_of(array.type) == 1 ? '|' : '<', type->first, shape_text(array.shape));
  constexpr std::size_t kAlignment = 64;  // numpy's, so that the elements can be mapped
  const std::size_t before = kMagic.size() + 4;
  header.resize((before + header.size() + kAlignment) / kAlignment * kAlignment - before - 1, ' ');
  header += '\n';

  std::vector<std::byte> file;
  file.reserve(before + header.size() + array.bytes.size());
  append(file, as_bytes(kMagic));
  append_integer<std::uint16_t>(file, 1);  // version 1.0
  append_integer(file, static_cast<std::uint16_t>(header.size()));
  append(file, as_bytes(header));
  append(file, array.bytes);
  return file;
}

Array read_npy(const std::filesystem::path& path) { return parse_npy(read_file(path), path.string()); }

void write_npy(const std::filesystem::path& path, const Array& array) { write_file(path, encode_npy(array)); }

}  // namespace ergodic
