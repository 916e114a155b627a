#include "ergodic/data/source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>

#include "ergodic/core/error.hpp"
#include "ergodic/data/alignment.hpp"
#include "ergodic/data/named_sets.hpp"
#include "ergodic/data/packing.hpp"
#include "ergodic/format/bytes.hpp"
#include "ergodic/format/csv.hpp"
#include "ergodic/format/fasta.hpp"
#include "ergodic/format/file.hpp"
#include "ergodic/format/idx.hpp"
#include "ergodic/format/npy.hpp"
#include "ergodic/format/npz.hpp"

namespace ergodic {
namespace {

constexpr std::uint8_t kTrainStream = 0;
constexpr std::uint8_t kTestStream = 1;

Dataset pack_array(const Array& array, const std::string& name, const DataOptions& options, std::uint8_t stream) {
  if (array.shape.size() < 2) {
    throw DataError(fmt::format("{}: expected rows of values (2 or more dimensions), found {}", name,
                                array.shape.empty() ? "a single value" : "one dimension"));
  }
  const std::size_t rows = array.shape[0], cols = rows == 0 ? 0 : array.size() / rows;
  RowNotes notes{name};
  if (array.shape.size() == 3) notes.shape = {array.shape[1], array.shape[2]};
  return dataset_of(rows_view(array.type, array.bytes.data(), rows, cols), notes, options, stream);
}

std::vector<int> labels_in(const Array& array, const std::string& where) {
  return labels_of(rows_view(array.type, array.bytes.data(), array.size(), 1), where);
}

/// The first array of an archive under one of the names, if it is there.
std::optional<Array> take(const NpzFile& archive, std::initializer_list<std::string_view> wanted) {
  for (std::size_t k = 0; k < archive.names().size(); ++k) {
    if (std::ranges::find(wanted, archive.names()[k]) != wanted.end()) return archive.array(k);
  }
  return std::nullopt;
}

struct Contents {
  Array values;
  std::optional<Array> labels;
};

Contents archived(std::span<const std::byte> file, const std::string& where) {
  const NpzFile archive(file, where);
  auto values = take(archive, {"x", "X", "images", "data"});
  if (!values && archive.names().size() == 1) values = archive.array(0);
  if (!values) {
    constexpr std::size_t kNamed = 10;
    std::vector<std::string> found;
    for (const std::string& name : archive.names()) found.push_back(found.size() < kNamed ? excerpt(name) : "...");
    found.resize(std::min(found.size(), kNamed + 1));
    throw DataError(
        fmt::format("{}: expected an array named x, images or data; found: {}", where, fmt::join(found, ", ")));
  }
  return {std::move(*values), take(archive, {"y", "labels"})};
}

/// Formats are told by their first bytes, not by the file's name.
bool is_fasta(std::span<const std::byte> file) { return !file.empty() && file[0] == std::byte{'>'}; }

Contents parse_arrays(std::span<const std::byte> file, const std::string& where, Missing missing) {
  std::array<unsigned char, 4> head{};
  for (std::size_t k = 0; k < std::min(file.size(), head.size()); ++k)
    head[k] = std::to_integer<unsigned char>(file[k]);
  if (std::memcmp(head.data(), "\x93NUM", 4) == 0) return {parse_npy(file, where), {}};
  if (std::memcmp(head.data(), "PK\x03\x04", 4) == 0) return archived(file, where);
  const bool gzip = head[0] == 0x1F && head[1] == 0x8B;
  const bool idx = head[0] == 0 && head[1] == 0 && head[2] >= 0x08 && head[3] >= 1;
  if (gzip || idx) return {parse_idx(file, where), {}};
  return {parse_csv(file, where, missing), {}};
}

struct Input {
  std::string where;
  std::vector<std::byte> bytes;
};

struct Inputs {
  std::string name;
  Input values;
  std::optional<Input> labels;  // nothing: they are inside, or there are none
};

Input read_input(const std::filesystem::path& path) { return {path.string(), read_file(path)}; }

Missing missing_of(const DataOptions& options) { return options.missing ? Missing::kAllowed : Missing::kRefused; }

Dataset alignment_in(const Inputs& in, const DataOptions& options, const Context& context) {
  Dataset out = dataset_of(parse_fasta(in.values.bytes, in.values.where), in.name, missing_of(options));
  if (options.identity > 0.0) out.weights = sequence_weights(out, options.identity, context);
  return out;
}

Dataset table_in(const Inputs& in, const DataOptions& options, std::uint8_t stream) {
  const Contents contents = parse_arrays(in.values.bytes, in.values.where, missing_of(options));
  Dataset out = pack_array(contents.values, in.name, options, stream);
  if (contents.labels && !in.labels) set_labels(out, labels_in(*contents.labels, in.name), in.name);
  return out;
}

/// Each file is opened once: what its first bytes, or its digest, say is said of the bytes that are then read.
Dataset dataset_in(const Inputs& in, const DataOptions& options, std::uint8_t stream, const Context& context) {
  Dataset out = is_fasta(in.values.bytes) ? alignment_in(in, options, context) : table_in(in, options, stream);
  if (in.labels) {
    const auto& [where, bytes] = *in.labels;
    set_labels(out, labels_in(parse_arrays(bytes, where, Missing::kRefused).values, where), where);
  }
  return out;
}

/// What machines of a kind take of a set that was made: bits may become letters, and both they and grey levels real
/// numbers. Real numbers stay what they are.
Dataset converted(Dataset data, const DataOptions& options, std::uint8_t stream) {
  if (data.real() || (!data.dynamic() && options.kind == ValueKind::kBits)) return data;
  const auto read = [&](std::size_t r, std::span<double> out) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = data.dynamic() ? data.grey()(r, i) / double{kFullGrey} : (data.bits().get(r, i) ? 1.0 : 0.0);
    }
  };
  const RowsOf what{data.name, data.shape, data.rows(), data.units(), read};
  Dataset out = options.kind == ValueKind::kReal ? keep_real(what)
                : data.dynamic()                 ? pack_bits(what, options, stream)
                                                 : pack_letters(what, 2);
  out.labels = std::move(data.labels);
  return out;
}

DataParts made(const Recipe& recipe, std::size_t n, const DataOptions& options) {
  DataParts out{converted(recipe.make(n, kTrainStream), options, kTrainStream), {}};
  if (recipe.has_test) {
    out.test = converted(recipe.make(std::max<std::size_t>(n / 10, 10), kTestStream), options, kTestStream);
  }
  return out;
}

DataParts fetched(const CatalogueEntry& entry, const DataOptions& options, const Context& context) {
  const auto input = [&](const CatalogueFile& file) {
    return Input{located(entry, file).string(), read_fetched(entry, file)};
  };
  const auto read = [&](const CatalogueFile& values, const CatalogueFile& labels, std::uint8_t stream) {
    const auto of_labels = labels.name.empty() ? std::nullopt : std::optional(input(labels));
    return dataset_in({entry.name, input(values), of_labels}, options, stream, context);
  };
  return DataParts{read(entry.train, entry.train_labels, kTrainStream),
                   entry.test.name.empty() ? Dataset{} : read(entry.test, entry.test_labels, kTestStream)};
}

DataParts named(const ChosenSet& chosen, const DataOptions& options, const Context& context) {
  require(options.labels.empty(), fmt::format("{} takes no labels from a file; leave --labels out", options.source));
  return chosen.set->recipe ? made(*chosen.set->recipe, chosen.n, options)
                            : fetched(*chosen.set->catalogue, options, context);
}

DataParts from_file(const DataOptions& options, const Context& context) {
  std::error_code ignored;
  if (!std::filesystem::exists(options.source, ignored)) {
    throw NoInputError(fmt::format(
        "{}: no such file, and no data set of that name; `ergodic data list` shows the names", options.source));
  }
  const auto labels = options.labels.empty() ? std::nullopt : std::optional(read_input(options.labels));
  return {dataset_in({options.source, read_input(options.source), labels}, options, kTrainStream, context), {}};
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

DataParts split(DataParts parts, const DataOptions& options) {
  if (parts.test.rows() == 0) split_test(parts, options);
  return parts;
}

void check_shares(const DataOptions& options) {
  require(options.test_share >= 0.0 && options.test_share <= 1.0,
          fmt::format("expected a test share from 0 to 1, found {}", options.test_share));
  require(options.identity >= 0.0 && options.identity <= 1.0,
          fmt::format("expected a share of equal sites from 0 to 1, found {}", options.identity));
}

}  // namespace

DataParts load_data(const DataOptions& options, const Context& context) {
  check_shares(options);
  const std::optional<ChosenSet> chosen = find_named_set(options.source);
  return split(chosen ? named(*chosen, options, context) : from_file(options, context), options);
}

DataParts load_fetched(const CatalogueEntry& entry, const DataOptions& options, const Context& context) {
  check_shares(options);
  return split(fetched(entry, options, context), options);
}

}  // namespace ergodic
