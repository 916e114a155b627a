#include "ergodic/data/source.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>

#include "ergodic/core/error.hpp"
#include "ergodic/data/alignment.hpp"
#include "ergodic/data/catalogue.hpp"
#include "ergodic/data/packing.hpp"
#include "ergodic/data/planar.hpp"
#include "ergodic/data/synthetic.hpp"
#include "ergodic/format/csv.hpp"
#include "ergodic/format/fasta.hpp"
#include "ergodic/format/idx.hpp"
#include "ergodic/format/npy.hpp"
#include "ergodic/format/npz.hpp"

namespace ergodic {
namespace {

constexpr std::uint8_t kTrainStream = 0;
constexpr std::uint8_t kTestStream = 1;

/// Calls f(span of elements in their own type).
template <class F>
auto visit_elements(const Array& array, const F& f) {
  const auto as = [&]<class T>(T) {
    return f(std::span<const T>(reinterpret_cast<const T*>(array.bytes.data()), array.size()));
  };
  switch (array.type) {
    case ElementType::kBool:
    case ElementType::kUInt8:
      return as(std::uint8_t{});
    case ElementType::kInt8:
      return as(std::int8_t{});
    case ElementType::kUInt16:
      return as(std::uint16_t{});
    case ElementType::kInt16:
      return as(std::int16_t{});
    case ElementType::kUInt32:
      return as(std::uint32_t{});
    case ElementType::kInt32:
      return as(std::int32_t{});
    case ElementType::kUInt64:
      return as(std::uint64_t{});
    case ElementType::kInt64:
      return as(std::int64_t{});
    case ElementType::kFloat32:
      return as(float{});
    case ElementType::kFloat64:
      return as(double{});
  }
  throw std::logic_error("unknown element type");
}

/// 8-bit values beyond 1 are grey levels of 255 steps; all else must lie in [0, 1] as it is.
double full_scale(const Array& array) {
  if (array.type != ElementType::kUInt8) return 1.0;
  for (const std::byte b : array.bytes) {
    if (std::to_integer<int>(b) > 1) return 255.0;
  }
  return 1.0;
}

constexpr double kLargestReal = 1e15;  // sums of squares of such numbers are still floats

[[noreturn]] void refuse(const std::string& name, std::size_t row, std::size_t unit, const std::string& expected,
                         double found) {
  throw DataError(
      fmt::format("{}: row {}, column {} (counted from 0): expected {}, found {}; {}", name, row, unit, expected, found,
                  std::isnan(found) ? "if it stands for a missing value, say --missing" : "scale the data first"));
}

/// Refuses a number that machines of this kind do not take. Letters are judged when they are counted.
void check(const std::string& name, std::size_t row, std::size_t unit, double value, const DataOptions& options) {
  if (std::isnan(value) && options.missing) return;
  switch (options.kind) {
    case ValueKind::kBits:
      if (!(value >= 0.0 && value <= 1.0)) refuse(name, row, unit, "a value in [0, 1]", value);
      break;
    case ValueKind::kReal:
      if (!(std::abs(value) <= kLargestReal)) {
        refuse(name, row, unit, fmt::format("a number from -{:g} to {:g}", kLargestReal, kLargestReal), value);
      }
      break;
    case ValueKind::kLetters:
      if (std::isnan(value)) refuse(name, row, unit, "a letter as a whole number", value);
  }
}

Dataset pack(const RowsOf& what, const DataOptions& options, std::uint8_t stream) {
  if (options.kind == ValueKind::kReal) return keep_real(what);
  return options.kind == ValueKind::kLetters ? pack_letters(what, options.letters) : pack_bits(what, options, stream);
}

Dataset pack_array(const Array& array, const std::string& name, const DataOptions& options, std::uint8_t stream) {
  if (array.shape.size() < 2) {
    throw DataError(fmt::format("{}: expected rows of values (2 or more dimensions), found {}", name,
                                array.shape.empty() ? "a single value" : "one dimension"));
  }
  if (array.size() == 0) throw DataError(fmt::format("{}: the data set is empty", name));
  RowsOf what{name, {}, array.shape[0], array.size() / array.shape[0]};
  if (array.shape.size() == 3) what.shape = {array.shape[1], array.shape[2]};
  const bool letters = options.kind == ValueKind::kLetters;
  const double scale = letters ? 1.0 : full_scale(array);
  return visit_elements(array, [&](auto elements) {
    what.read = [&](std::size_t r, std::span<double> out) {
      for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = static_cast<double>(elements[r * out.size() + i]) / scale;
        if (letters && options.missing && out[i] == -1.0) out[i] = std::nan("");  // whole numbers know no nan
        check(name, r, i, out[i], options);
      }
    };
    return pack(what, options, stream);
  });
}

std::vector<int> labels_from_array(const Array& array, const std::string& where) {
  std::vector<int> labels;
  labels.reserve(array.size());
  visit_elements(array, [&](auto elements) {
    for (std::size_t k = 0; k < elements.size(); ++k) {
      const auto value = static_cast<double>(elements[k]);
      if (!(value >= -1e9 && value <= 1e9) || value != std::floor(value)) {
        throw DataError(fmt::format("{}: row {}: expected a whole number as label, found {}", where, k, value));
      }
      labels.push_back(static_cast<int>(value));
    }
  });
  return labels;
}

/// The array of an archive under one of the names, if it is there.
std::optional<Array> take(const std::vector<std::pair<std::string, Array>>& members,
                          std::initializer_list<std::string_view> names) {
  for (const auto& [name, array] : members) {
    for (const std::string_view wanted : names) {
      if (name == wanted) return array;
    }
  }
  return std::nullopt;
}

struct Contents {
  Array values;
  std::optional<Array> labels;
};

Contents read_archive(const std::filesystem::path& path) {
  const auto members = read_npz(path);
  auto values = take(members, {"x", "X", "images", "data"});
  if (!values && members.size() == 1) values = members[0].second;
  if (!values) {
    std::string names;
    for (const auto& [name, array] : members) names += " " + name;
    throw DataError(fmt::format("{}: expected an array named x, images or data; found:{}", path.string(), names));
  }
  return {std::move(*values), take(members, {"y", "labels"})};
}

/// Formats are told by their first bytes, not by the file's name.
bool is_fasta(const std::filesystem::path& path) { return std::ifstream(path, std::ios::binary).peek() == '>'; }

Contents read_array(const std::filesystem::path& path, Missing missing) {
  std::ifstream file(path, std::ios::binary);
  std::array<unsigned char, 4> head{};
  file.read(reinterpret_cast<char*>(head.data()), head.size());
  if (std::memcmp(head.data(), "\x93NUM", 4) == 0) return {read_npy(path), {}};
  if (std::memcmp(head.data(), "PK\x03\x04", 4) == 0) return read_archive(path);
  const bool gzip = head[0] == 0x1F && head[1] == 0x8B;
  const bool idx = head[0] == 0 && head[1] == 0 && head[2] >= 0x08 && head[3] >= 1;
  if (gzip || (file && idx)) return {read_idx(path), {}};
  return {read_csv(path, missing), {}};
}

void attach_labels(Dataset& data, std::vector<int> labels, const std::string& where) {
  if (labels.size() != data.rows()) {
    throw DataError(
        fmt::format("{}: expected a label for each of {} rows, found {} labels", where, data.rows(), labels.size()));
  }
  data.labels = std::move(labels);
}

struct Place {
  std::filesystem::path values, labels;  // no path: labels are inside, or there are none
  std::string name;
};

Missing missing_of(const DataOptions& options) { return options.missing ? Missing::kAllowed : Missing::kRefused; }

Dataset read_alignment(const Place& place, const DataOptions& options) {
  Dataset out = dataset_of(read_fasta(place.values), place.name, missing_of(options));
  if (options.identity > 0.0) out.weights = sequence_weights(out, options.identity);
  return out;
}

Dataset read_table(const Place& place, const DataOptions& options, std::uint8_t stream) {
  const Contents contents = read_array(place.values, missing_of(options));
  Dataset out = pack_array(contents.values, place.name, options, stream);
  if (contents.labels && place.labels.empty()) {
    attach_labels(out, labels_from_array(*contents.labels, place.name), place.name);
  }
  return out;
}

Dataset read_set(const Place& place, const DataOptions& options, std::uint8_t stream) {
  Dataset out = is_fasta(place.values) ? read_alignment(place, options) : read_table(place, options, stream);
  if (!place.labels.empty()) {
    const std::string where = place.labels.string();
    attach_labels(out, labels_from_array(read_array(place.labels, Missing::kRefused).values, where), where);
  }
  return out;
}

Dataset pack_digits(std::size_t count, const DataOptions& options, std::uint8_t stream) {
  Dataset sheet = digit_sheet(count, stream);
  const auto read = [&](std::size_t r, std::span<double> out) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = sheet.grey()(r, i) / double{kFullGrey};
  };
  const RowsOf what{sheet.name, sheet.shape, sheet.rows(), sheet.units(), read};
  Dataset out = options.kind == ValueKind::kReal ? keep_real(what) : pack_bits(what, options, stream);
  out.labels = std::move(sheet.labels);
  return out;
}

/// The N of "name:N", within [lowest, highest], or the default without one. Nothing if the source is not of this name.
std::optional<std::size_t> size_after(const std::string& source, std::string_view name, std::size_t standard,
                                      std::size_t lowest, std::size_t highest) {
  if (source == name) return standard;
  if (!source.starts_with(std::string(name) + ":")) return std::nullopt;
  const std::string_view digits = std::string_view(source).substr(name.size() + 1);
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || value < lowest || value > highest) {
    throw UsageError(fmt::format("{}: expected a number from {} to {} after '{}:', found '{}'", source, lowest, highest,
                                 name, digits));
  }
  return value;
}

/// The points of a plane of that name: as many again, divided by ten, for the test part.
std::optional<DataParts> planar(const DataOptions& options) {
  for (const PlanarSet& set : kPlanarSets) {
    const auto n = size_after(options.source, set.name, 10000, 10, 10000000);
    if (!n) continue;
    return DataParts{set.make(*n, kTrainStream), set.make(std::max<std::size_t>(*n / 10, 10), kTestStream)};
  }
  return std::nullopt;
}

std::optional<DataParts> made(const DataOptions& options) {
  const auto bits = [&](Dataset data) {
    const auto read = [&](std::size_t r, std::span<double> out) {
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = data.bits().get(r, i) ? 1.0 : 0.0;
    };
    if (options.kind == ValueKind::kBits) return DataParts{std::move(data), {}};
    const RowsOf what{data.name, data.shape, data.rows(), data.units(), read};
    Dataset out = options.kind == ValueKind::kReal ? keep_real(what) : pack_letters(what, 2);
    out.labels = data.labels;
    return DataParts{std::move(out), {}};
  };
  if (const auto n = size_after(options.source, "bars-and-stripes", 4, 1, 16)) return bits(bars_and_stripes(*n));
  if (const auto n = size_after(options.source, "shifting-bars", 9, 1, 65536)) return bits(shifting_bars(*n));
  if (auto parts = planar(options)) return parts;
  if (const auto n = size_after(options.source, "digits", 20000, 10, 1000000)) {
    return DataParts{pack_digits(*n, options, kTrainStream),
                     pack_digits(std::max<std::size_t>(*n / 10, 10), options, kTestStream)};
  }
  return std::nullopt;
}

std::optional<DataParts> catalogued(const DataOptions& options) {
  const CatalogueEntry* entry = find_in_catalogue(options.source);
  if (!entry) return std::nullopt;
  const auto read = [&](const CatalogueFile& values, const CatalogueFile& labels, std::uint8_t stream) {
    return read_set({located(*entry, values), located(*entry, labels), entry->name}, options, stream);
  };
  return DataParts{read(entry->train, entry->train_labels, kTrainStream),
                   entry->test.name.empty() ? Dataset{} : read(entry->test, entry->test_labels, kTestStream)};
}

DataParts from_file(const DataOptions& options) {
  std::error_code ignored;
  if (!std::filesystem::exists(options.source, ignored)) {
    throw NoInputError(fmt::format(
        "{}: no such file, and no data set of that name; `ergodic data list` shows the names", options.source));
  }
  return {read_set({options.source, options.labels, options.source}, options, kTrainStream), {}};
}

/// Sets apart the test part of a set that has none of its own.
void split_test(DataParts& parts, const DataOptions& options) {
  const auto rows = static_cast<double>(parts.train.rows());
  const auto test_rows = static_cast<std::size_t>(std::lround(options.test_share * rows));
  if (test_rows == 0) return;
  require(test_rows < parts.train.rows(),
          fmt::format("{}: a test share of {} leaves no rows to train on", options.source, options.test_share));
  parts.test = split_off(parts.train, test_rows, Key{}.at(Purpose::kSplit));
}

}  // namespace

DataParts load_data(const DataOptions& options) {
  require(options.test_share >= 0.0 && options.test_share <= 1.0,
          fmt::format("expected a test share from 0 to 1, found {}", options.test_share));
  require(options.identity >= 0.0 && options.identity <= 1.0,
          fmt::format("expected a share of equal sites from 0 to 1, found {}", options.identity));
  const auto refuse_labels = [&](bool named) {
    require(!named || options.labels.empty(),
            fmt::format("{} takes no labels from a file; leave --labels out", options.source));
  };
  std::optional<DataParts> parts = made(options);
  refuse_labels(parts.has_value());
  refuse_labels(find_in_catalogue(options.source) != nullptr);
  if (!parts) parts = catalogued(options);
  if (!parts) parts = from_file(options);
  if (parts->test.rows() == 0) split_test(*parts, options);
  return std::move(*parts);
}

}  // namespace ergodic
