#include "ergodic/format/safetensors_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/format/bytes.hpp"

namespace ergodic {
namespace {

constexpr std::array<std::pair<std::string_view, ElementType>, 11> kTypes = {{
    {"BOOL", ElementType::kBool},
    {"U8", ElementType::kUInt8},
    {"I8", ElementType::kInt8},
    {"U16", ElementType::kUInt16},
    {"I16", ElementType::kInt16},
    {"U32", ElementType::kUInt32},
    {"I32", ElementType::kInt32},
    {"U64", ElementType::kUInt64},
    {"I64", ElementType::kInt64},
    {"F32", ElementType::kFloat32},
    {"F64", ElementType::kFloat64},
}};

/// Listens to nlohmann's parser (its SAX interface fixes the names) and knows at each moment what may come next.
class HeaderListener {
 public:
  HeaderListener(std::size_t begin, const std::string& where) : begin_(begin), where_(where) {}

  TensorsHeader take() { return std::move(header_); }

  bool null() { refuse("null"); }
  bool boolean(bool) { refuse("true or false"); }
  bool number_integer(nlohmann::json::number_integer_t) { refuse("a negative number"); }
  bool number_float(nlohmann::json::number_float_t, const std::string& text) { refuse(excerpt(text)); }
  bool binary(nlohmann::json::binary_t&) { refuse("binary data"); }

  bool number_unsigned(nlohmann::json::number_unsigned_t value) {
    if (place_ != Place::kNumbers || numbers_.size() == kMaxAxes) refuse(fmt::format("{}", value));
    numbers_.push_back(value);
    return true;
  }

  bool string(std::string& value) {
    if (place_ == Place::kMetadata) {
      header_.metadata[key_] = value;
    } else if (place_ == Place::kEntry && key_ == "dtype") {
      header_.entries.back().type = type_named(value);
    } else {
      refuse(excerpt(value));
    }
    return true;
  }

  bool start_object(std::size_t) {
    if (place_ == Place::kStart) {
      place_ = Place::kTop;
    } else if (place_ == Place::kTop && key_ == kMetadataKey) {
      place_ = Place::kMetadata;
    } else if (place_ == Place::kTop) {
      header_.entries.push_back({key_, {}, {}, 0, 0});
      fields_.clear();
      place_ = Place::kEntry;
    } else {
      refuse("an object");
    }
    return true;
  }

  bool end_object() {
    if (place_ == Place::kEntry && fields_.size() != 3) fail("expected dtype, shape and data_offsets, found fewer");
    place_ = place_ == Place::kTop ? Place::kEnd : Place::kTop;
    return true;
  }

  bool key(std::string& key) {
    const bool entry = place_ == Place::kEntry;
    if (entry && key != "dtype" && key != "shape" && key != "data_offsets") {
      fail(fmt::format("expected dtype, shape and data_offsets, found {}", excerpt(key)));
    }
    const bool repeated = entry                        ? !fields_.insert(key).second
                          : place_ == Place::kMetadata ? header_.metadata.count(key) > 0
                                                       : !names_.insert(key).second;
    if (repeated) fail(fmt::format("the key {} is there twice", excerpt(key)));
    key_ = key;
    return true;
  }

  bool start_array(std::size_t) {
    if (place_ != Place::kEntry || key_ == "dtype") refuse("an array");
    place_ = Place::kNumbers;
    numbers_.clear();
    return true;
  }

  bool end_array() {
    TensorEntry& entry = header_.entries.back();
    place_ = Place::kEntry;
    if (key_ == "shape") {
      entry.shape = numbers_;
      return true;
    }
    if (numbers_.size() != 2 || numbers_[0] > numbers_[1]) {
      fail(fmt::format("expected data_offsets [begin, end], found [{}]", fmt::join(numbers_, ", ")));
    }
    entry.begin = numbers_[0];
    entry.end = numbers_[1];
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception&) {
    const std::size_t byte = begin_ + (position > 0 ? position - 1 : 0);
    fail_at(where_, byte, fmt::format("the header is not valid JSON near {}; the file is damaged", excerpt(token)));
  }

 private:
  enum class Place : std::uint8_t { kStart, kTop, kMetadata, kEntry, kNumbers, kEnd };

  ElementType type_named(const std::string& name) const {
    const auto found = std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& type) { return type.first == name; });
    if (found != kTypes.end()) return found->second;
    fail(fmt::format("expected dtype BOOL, U8 to U64, I8 to I64, F32 or F64, found {}; convert the array",
                     excerpt(name)));
  }

  /// What may stand where a value was found that may not.
  std::string expected() const {
    if (place_ == Place::kStart || place_ == Place::kTop) return "an object";
    if (place_ == Place::kMetadata) return fmt::format("a string as metadata {}", excerpt(key_));
    if (place_ == Place::kNumbers) return fmt::format("at most {} whole numbers as {}", kMaxAxes, key_);
    return key_ == "dtype" ? "a string as dtype" : fmt::format("an array of whole numbers as {}", key_);
  }

  [[noreturn]] void refuse(std::string_view found) const {
    fail(fmt::format("expected {}, found {}", expected(), found));
  }
  [[noreturn]] void fail(std::string_view problem) const {
    const bool entry = place_ == Place::kEntry || place_ == Place::kNumbers;
    fail_at(where_, begin_,
            fmt::format("header{}: {}", entry ? ", tensor " + excerpt(header_.entries.back().name) : "", problem));
  }

  std::size_t begin_;
  const std::string& where_;
  TensorsHeader header_;
  Place place_ = Place::kStart;
  std::string key_;
  std::set<std::string> names_;   ///< keys of the header so far
  std::set<std::string> fields_;  ///< keys of the entry so far
  std::vector<std::size_t> numbers_;
};

std::string json_string(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    throw UsageError(fmt::format("{} is not UTF-8, and cannot be written to a safetensors file", excerpt(text)));
  }
}

}  // namespace

TensorsHeader parse_tensors_header(std::string_view json, std::size_t begin, const std::string& where) {
  if (!json.starts_with('{')) {
    fail_at(where, begin, fmt::format("expected a JSON header that begins with {{, found {}", excerpt(json)));
  }
  // nlohmann's parser takes a zero byte for the end of its input, and would not look at what follows.
  if (const auto zero = json.find('\0'); zero != std::string_view::npos) {
    fail_at(where, begin + zero, "expected JSON, found a zero byte; the file is damaged");
  }
  HeaderListener listener(begin, where);
  nlohmann::json::sax_parse(json.begin(), json.end(), &listener);
  return listener.take();
}

std::string encode_tensors_header(const TensorsHeader& header) {
  std::vector<std::string> items;
  if (!header.metadata.empty()) {
    std::vector<std::string> pairs;
    for (const auto& [key, value] : header.metadata) pairs.push_back(json_string(key) + ":" + json_string(value));
    items.push_back(fmt::format("\"{}\":{{{}}}", kMetadataKey, fmt::join(pairs, ",")));
  }
  for (const TensorEntry& entry : header.entries) {
    const auto type =
        std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& known) { return known.second == entry.type; });
    assert(type != kTypes.end());
    items.push_back(fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", json_string(entry.name),
                                type->first, fmt::join(entry.shape, ","), entry.begin, entry.end));
  }
  return fmt::format("{{{}}}", fmt::join(items, ","));
}

}  // namespace ergodic
