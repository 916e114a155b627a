#include "ergodic/data/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>

#include "ergodic/core/error.hpp"
#include "ergodic/core/spelling.hpp"
#include "ergodic/data/alignment.hpp"
#include "ergodic/data/contents.hpp"
#include "ergodic/data/named_sets.hpp"
#include "ergodic/data/packing.hpp"

namespace ergodic {
namespace {

constexpr std::uint8_t kTrainStream = 0;
constexpr std::uint8_t kTestStream = 1;

Dataset pack_array(const Array& array, const std::string& name, const DataOptions& options, std::uint8_t stream) {
  const bool one_row = options.one_row && array.shape.size() == 1;
  if (array.shape.size() < 2 && !one_row) {
    throw DataError(fmt::format("{}: expected rows of values (2 or more dimensions), found {}", name,
                                array.shape.empty() ? "a single value" : "one dimension"));
  }
  const std::size_t rows = one_row ? 1 : array.shape[0], cols = rows == 0 ? 0 : array.size() / rows;
  RowNotes notes{name};
  if (array.shape.size() == 3) notes.shape = {array.shape[1], array.shape[2]};
  return dataset_of(rows_view(array.type, array.bytes.data(), rows, cols), notes, options, stream);
}

std::vector<int> labels_in(const Array& array, const std::string& where) {
  return labels_of(rows_view(array.type, array.bytes.data(), array.size(), 1), where);
}

/// A file, and what it holds. It is opened once: what its first bytes, or its digest, say is said of what is then read.
struct Input {
  std::string where;
  Contents contents;
};

struct Inputs {
  std::string name;
  Input values;
  std::optional<Input> labels;  // nothing: they are inside, or there are none
  TableLayout layout{};         // of a table
};

Missing missing_of(const DataOptions& options) { return options.missing ? Missing::kAllowed : Missing::kRefused; }

/// Whether an alignment is likely one of bases: nine in ten of its letters, besides gaps, are those of DNA. Of proteins
/// these are about two in ten.
bool looks_like_dna(const Dataset& data) {
  std::size_t letters = 0, bases = 0;
  for (std::size_t r = 0; r < data.rows(); ++r) {
    for_each_set(data.bits().row(r), [&](std::size_t unit) {
      const char letter = data.alphabet[unit % data.letters];
      if (letter == '-' || !data.is_known(r, unit)) return;
      ++letters;
      bases += std::string_view("ACGT").find(letter) != std::string_view::npos ? 1 : 0;
    });
  }
  return letters > 0 && 10 * bases >= 9 * letters;
}

/// 8-bit values that are far from 255 are rarely grey levels of 255 steps.
void warn_of_grey(const Array& array, const std::string& name, ValueKind kind, std::vector<std::string>& warnings) {
  constexpr std::uint8_t kLeastWhite = 64;
  if (array.type != ElementType::kUInt8 || kind == ValueKind::kLetters || array.bytes.empty()) return;
  const auto largest = std::to_integer<std::uint8_t>(std::ranges::max(array.bytes));
  if (largest < 2 || largest >= kLeastWhite) return;
  warnings.push_back(fmt::format(
      "{}: bytes are read as grey levels from 0 to 255, and the largest is {}; if white is {}, divide the array by {} "
      "first; if they are letters, say --visible-type potts",
      name, largest, largest, largest));
}

/// All rows alike teach a machine nothing.
void warn_of_values(const Dataset& data, std::vector<std::string>& warnings) {
  if (const auto* bits = std::get_if<Bits>(&data.values)) {
    const auto words = bits->words();
    if (std::ranges::all_of(words, [](std::uint64_t word) { return word == 0; })) {
      warnings.push_back(fmt::format("{}: no unit is on in any row; look at the values and at --threshold", data.name));
      return;
    }
  }
  const auto same_as_first = [&](const auto& values) {
    for (std::size_t r = 1; r < values.rows(); ++r) {
      if (!std::ranges::equal(values.row(0), values.row(r))) return false;
    }
    return values.rows() > 1;
  };
  if (std::visit(same_as_first, data.values)) {
    warnings.push_back(fmt::format("{}: all {} rows are the same", data.name, data.rows()));
  }
  if (!data.alphabet.empty() && looks_like_dna(data)) {
    warnings.push_back(
        fmt::format("{}: nearly all letters are A, C, G or T: is this DNA? It is read as protein, with 21 letters a "
                    "site, and the U "
                    "of RNA as a gap",
                    data.name));
  }
}

Dataset alignment_of(const std::vector<NamedSequence>& sequences, const std::string& name, const DataOptions& options,
                     const Context& context) {
  Dataset out = dataset_of(sequences, name, missing_of(options));
  if (options.identity > 0.0 && options.weights.empty()) out.weights = sequence_weights(out, options.identity, context);
  return out;
}

Dataset table_of(CsvTable table, const Inputs& in, const DataOptions& options, std::uint8_t stream,
                 std::vector<std::string>& warnings) {
  number_words(table, in.layout);
  UnitTable units = units_of(std::move(table), in.values.where, options.table, options.kind);
  warnings.insert(warnings.end(), units.warnings.begin(), units.warnings.end());
  units.notes.name = in.name;
  arrange(units, in.layout, options.kind);
  const ArrayView view =
      rows_view(std::span<const double>(units.numbers), units.rows, units.numbers.size() / units.rows);
  Dataset out = dataset_of(view, units.notes, options, stream);
  out.class_names = std::move(units.class_names);
  return out;
}

/// A file of one number for each row, which is a `what`: an array, or a table of numbers.
Array numbers_from(const Input& input, std::string_view what) {
  const auto& [where, contents] = input;
  if (const auto* table = std::get_if<CsvTable>(&contents)) return numbers_of(*table, where);
  const auto* array = std::get_if<LabelledArray>(&contents);
  if (!array) throw DataError(fmt::format("{}: expected a {} for each row, found sequences", where, what));
  return array->values;
}

Dataset dataset_in(Inputs in, const DataOptions& options, std::uint8_t stream, std::vector<std::string>& warnings,
                   const Context& context) {
  Contents& contents = in.values.contents;
  auto* table = std::get_if<CsvTable>(&contents);
  require(table || !options.table.chosen(),
          fmt::format("{}: --label-column, --columns and --drop choose columns of a table (csv), and this is none",
                      in.name));
  Dataset out;
  if (table) {
    out = is_alignment(*table) ? alignment_of(sequences_of(*table), in.name, options, context)
                               : table_of(std::move(*table), in, options, stream, warnings);
  } else if (const auto* array = std::get_if<LabelledArray>(&contents)) {
    out = pack_array(array->values, in.name, options, stream);
    if (array->labels && !in.labels) set_labels(out, labels_in(*array->labels, in.name), in.name);
    warn_of_grey(array->values, in.name, options.kind, warnings);
  } else {
    out = alignment_of(std::get<std::vector<NamedSequence>>(contents), in.name, options, context);
  }
  if (in.labels) set_labels(out, labels_in(numbers_from(*in.labels, "label"), in.labels->where), in.labels->where);
  return out;
}

/// What machines of a kind take of a set that was made: bits may become letters, and both they and grey levels real
/// numbers. Real numbers stay what they are.
Dataset converted(Dataset data, const DataOptions& options, std::uint8_t stream) {
  const bool bits = options.kind == ValueKind::kBits || options.kind == ValueKind::kSpins;
  if (data.real() || (!data.dynamic() && bits)) return data;
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

/// Sets apart the test part of a set that is one file.
Dataset test_part(Dataset& all, const TestRows& rows) {
  if (rows.drawn > 0) return split_off(all, rows.drawn, Key{}.at(Purpose::kSplit));
  std::vector<std::uint32_t> order(all.rows());
  std::iota(order.begin(), order.end(), 0u);
  const std::span<const std::uint32_t> places(order);
  Dataset out = select(all, places.last(rows.last));
  all = select(all, places.first(all.rows() - rows.last));
  return out;
}

DataParts fetched(const CatalogueEntry& entry, DataOptions options, const Context& context) {
  DataParts out;
  options.table.label_column = entry.layout.label_column;
  const auto input = [&](const CatalogueFile& file) {
    const std::string where = located(entry, file).string();
    return Input{where, contents_of(read_fetched(entry, file), where, "", missing_of(options))};
  };
  const auto read = [&](const CatalogueFile& values, const CatalogueFile& labels, std::uint8_t stream) {
    const auto of_labels = labels.name.empty() ? std::nullopt : std::optional(input(labels));
    return dataset_in({entry.name, input(values), of_labels, entry.layout}, options, stream, out.warnings, context);
  };
  out.train = read(entry.train, entry.train_labels, kTrainStream);
  if (!entry.test.name.empty()) out.test = read(entry.test, entry.test_labels, kTestStream);
  if (entry.test_rows.last + entry.test_rows.drawn > 0) out.test = test_part(out.train, entry.test_rows);
  return out;
}

DataParts named(const ChosenSet& chosen, const DataOptions& options, const Context& context) {
  require(options.labels.empty(), fmt::format("{} takes no labels from a file; leave --labels out", options.source));
  require(options.array.empty() && !options.table.chosen(),
          fmt::format("{} is no file; leave out --array, --label-column, --columns and --drop", options.source));
  return chosen.set->recipe ? made(*chosen.set->recipe, chosen.n, options)
                            : fetched(*chosen.set->catalogue, options, context);
}

DataParts from_file(const DataOptions& options, const Context& context) {
  std::error_code ignored;
  if (!std::filesystem::exists(options.source, ignored)) {
    std::vector<std::string> names;
    for (const NamedSet& set : named_sets()) names.push_back(set.name);
    const std::string guess = did_you_mean(options.source.substr(0, options.source.find(':')), names);
    throw NoInputError(fmt::format("{}: no such file, and no data set of that name{}", options.source,
                                   guess.empty() ? "; `ergodic data list` shows the names" : guess));
  }
  DataParts out;
  Inputs in{options.source,
            {options.source, read_contents(options.source, options.array, missing_of(options))},
            std::nullopt};
  if (!options.labels.empty()) {
    in.labels = Input{options.labels.string(), read_contents(options.labels, "", Missing::kRefused)};
  }
  out.train = dataset_in(std::move(in), options, kTrainStream, out.warnings, context);
  return out;
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

void weigh(Dataset& data, const std::filesystem::path& file) {
  const Input input{file, read_contents(file, "", Missing::kRefused)};
  const Array numbers = numbers_from(input, "weight");
  set_weights(data, weights_of(rows_view(numbers.type, numbers.bytes.data(), numbers.size(), 1), input.where),
              input.where);
}

DataParts finished(DataParts parts, const DataOptions& options) {
  if (!options.weights.empty()) weigh(parts.train, options.weights);
  warn_of_values(parts.train, parts.warnings);
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
  return finished(chosen ? named(*chosen, options, context) : from_file(options, context), options);
}

DataParts load_fetched(const CatalogueEntry& entry, const DataOptions& options, const Context& context) {
  check_shares(options);
  return finished(fetched(entry, options, context), options);
}

}  // namespace ergodic
