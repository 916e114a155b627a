#include "ergodic/run/commands/data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ergodic/core/error.hpp"
#include "ergodic/data/named_sets.hpp"
#include "ergodic/format/sha256.hpp"
#include "ergodic/machine/rows.hpp"

namespace ergodic {
namespace {

std::vector<std::string> written_names() {
  std::vector<std::string> out;
  for (const NamedSet& set : named_sets()) out.push_back(set.written());
  return out;
}

Spec<DataOptions> make_spec() {
  Spec<DataOptions> spec;
  spec.group("Data")
      .add("data", &DataOptions::source,
           fmt::format(
               "the data: a file (npy, npz, idx, idx.gz, csv, rda, rds, fasta, stockholm, clustal), a folder of PNG "
               "pictures, or a name ({}; `ergodic data list` says what they are)",
               fmt::join(written_names(), ", ")))
      .placeholder("DATA")
      .role(PathRole::kInput)
      .required()
      .not_part_of_result()  // what is in it shapes the result, not where it lies
      .add("labels", &DataOptions::labels, "a file with one label for each row, if the data has none inside")
      .role(PathRole::kInput)
      .not_part_of_result()
      .add(
          "label-column", [](auto& o) -> auto& { return o.table.label_column; },
          "the column of a table that holds the labels, by its name or its number, counted from 1")
      .placeholder("COLUMN")
      .not_part_of_result()  // as the next ones: what they leave of the data shapes the result
      .add(
          "columns", [](auto& o) -> auto& { return o.table.columns; },
          "the columns of a table to read, by name or number, with commas between them (all if not said)")
      .placeholder("COLUMN,...")
      .not_part_of_result()
      .add(
          "drop", [](auto& o) -> auto& { return o.table.drop; }, "the columns of a table to leave out")
      .placeholder("COLUMN,...")
      .not_part_of_result()
      .add("array", &DataOptions::array,
           "the array of an npz file to read (if not said: x, X, images, data, or the "
           "only one of rows)")
      .placeholder("NAME")
      .not_part_of_result()
      .add("binarise", &DataOptions::binarise, "how grey levels become bits")
      .add("threshold", &DataOptions::threshold, "the grey level from which a bit is on")
      .range(0.0, 1.0)
      .advanced()
      .add("test-share", &DataOptions::test_share,
           "share of the rows that become the test part of a set without its own")
      .range(0.0, 1.0)
      .add("identity", &DataOptions::identity,
           "sequence identity above which aligned sequences are weighted as one cluster (1: only identical ones; 0: no "
           "weighting)")
      .range(0.0, 1.0)
      .advanced()
      .add("missing", &DataOptions::missing,
           "let values be missing: nan in arrays, `NA`, `?` or nothing in tables, `?` in fasta, -1 among letters");
  return spec;
}

const Dataset& part_of(const DataParts& parts, const DataOptions& options, Split split) {
  const bool has_test = parts.test.rows() > 0;
  require(split != Split::kTest || has_test,
          fmt::format("{} has no test part; use --split train, or set one apart with --test-share", options.source));
  return split == Split::kTrain || !has_test ? parts.train : parts.test;
}

Dataset fitting(const Machine& machine, Dataset data) {
  Dataset out = machine.rows_from(std::move(data));
  require_kind(machine.visible(), out);
  require_fit(machine.visible(), out);
  return out;
}

}  // namespace

std::vector<std::string> names_of_sets() {
  std::vector<std::string> out;
  for (const NamedSet& set : named_sets()) out.push_back(set.name);
  return out;
}

std::vector<std::string> sets_to_fetch() { return catalogue_names(); }

const Spec<DataOptions>& data_spec() {
  static const Spec<DataOptions> spec = make_spec();
  return spec;
}

const Spec<DataOptions>& complete_data_spec() {
  static const Spec<DataOptions> spec = [] {
    Spec<DataOptions> out;
    for (const auto& bound : data_spec().bound()) {
      if (bound.option.name != "missing") out.add(bound);
    }
    return out;
  }();
  return spec;
}

DataParts load_parts(const DataOptions& options, const Context& context) {
  DataParts parts = load_data(options, context);
  for (const std::string& warning : parts.warnings) context.warn(warning);
  return parts;
}

Dataset load_split(const DataOptions& options, Split split, const Context& context) {
  return part_of(load_parts(options, context), options, split);
}

SplitData load_split_for(const ModelFile& file, DataOptions options, Split split, const Context& context) {
  const Machine& machine = *file.machine;
  const Layer visible = machine.visible();
  options.table.units = unit_names_from(file.notes, sites_of(visible));
  options.table.classes = class_names_from(file.notes);
  if (visible.parts() > 1 && !options.table.units.empty()) options.table.units.pop_back();  // the label
  options.kind = kind_for(visible);
  if (options.kind == ValueKind::kLetters) {
    options.letters = letters_of(visible);
    options.units = units_of(visible);
  }
  DataParts parts = load_parts(options, context);
  const bool other = &part_of(parts, options, split) != &parts.train;
  SplitData out{fitting(machine, std::move(other ? parts.test : parts.train)), std::nullopt};
  if (other) out.training = fitting(machine, std::move(parts.train));
  return out;
}

std::size_t bytes_of(const Dataset& data) {
  return data.bytes().size() + data.weights.size() * sizeof(data.weights[0]) + data.known.words().size_bytes();
}

std::string digest_of(const Dataset& data) {
  Sha256 digest;
  digest.add(data.bytes());
  digest.add(std::as_bytes(std::span(data.weights)));
  digest.add(std::as_bytes(data.known.words()));
  return digest.hex();
}

}  // namespace ergodic
