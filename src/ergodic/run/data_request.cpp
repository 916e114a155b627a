#include "ergodic/run/data_request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "ergodic/data/named_sets.hpp"
#include "ergodic/run/pictures.hpp"

namespace ergodic {
namespace {

/// Text that JSON can hold: a file's name may be any bytes.
std::string as_utf8(const std::string& text) {
  const auto replace = nlohmann::json::error_handler_t::replace;
  return nlohmann::json::parse(nlohmann::json(text).dump(-1, ' ', false, replace)).get<std::string>();
}

std::vector<std::string> names_of_sets() {
  std::vector<std::string> out;
  for (const NamedSet& set : named_sets()) out.push_back(set.written());
  return out;
}

}  // namespace

void add_data_options(Spec& spec, DataOptions& options) {
  spec.group("Data")
      .text("data", options.source,
            fmt::format("the data: a file (npy, npz, idx, idx.gz, csv, fasta) or a name ({}; `ergodic data list` says "
                        "what they are)",
                        fmt::join(names_of_sets(), ", ")),
            "DATA")
      .required()
      .incidental()  // what is in it shapes the result, not where it lies
      .path("labels", options.labels, "a file with one label for each row, if the data has none inside")
      .incidental()
      .choice("binarise", options.binarise,
              "how grey levels become bits: on from a threshold up, one fixed random draw, or a new draw each epoch")
      .number("threshold", options.threshold, 0.0, 1.0, "the grey level from which a bit is on")
      .number("test-share", options.test_share, 0.0, 1.0,
              "share of the rows that become the test part of a set without its own")
      .number("identity", options.identity, 0.0, 1.0,
              "share of equal sites from which on aligned sequences share the weight of one (1: only copies; 0: every "
              "sequence counts in full)")
      .flag("missing", options.missing,
            "let values be missing: nan in arrays, `NA`, `?` or nothing in csv, `?` in fasta, -1 among letters");
}

void add_split_option(Spec& spec, Split& split) {
  spec.choice("split", split, "which part of the data: auto takes the test part if there is one, else all rows");
}

Dataset load_split(const DataOptions& options, Split split) {
  DataParts parts = load_data(options);
  const bool has_test = parts.test.rows() > 0;
  require(split != Split::kTest || has_test,
          fmt::format("{} has no test part; use --split train, or set one apart with --test-share", options.source));
  return split == Split::kTrain || !has_test ? std::move(parts.train) : std::move(parts.test);
}

namespace {

DataOptions options_for(const Layer& visible, DataOptions options) {
  options.kind = kind_for(visible);
  options.letters = letters_of(visible);
  return options;
}

}  // namespace

std::optional<Dataset> load_training_beside(const Layer& visible, DataOptions options, Split split) {
  if (split == Split::kTrain) return std::nullopt;
  DataParts parts = load_data(options_for(visible, std::move(options)));
  if (parts.test.rows() == 0) return std::nullopt;
  require_complete(parts.train);
  return std::move(parts.train);
}

Dataset load_split_for(const Layer& visible, DataOptions options, Split split) {
  Dataset data = load_split(options_for(visible, std::move(options)), split);
  require_kind(visible, data);
  require_complete(data);
  if (data.units() != units_of(visible)) {
    throw DataError(fmt::format("{}: expected rows of {} values, as the machine has visible units; found {}", data.name,
                                units_of(visible), data.units()));
  }
  return data;
}

ValueKind kind_for(const Layer& visible) {
  if (letters_of(visible) > 0) return ValueKind::kLetters;
  return real_valued(visible) ? ValueKind::kReal : ValueKind::kBits;
}

void require_kind(const Layer& visible, const Dataset& data) {
  const bool real = data.real();
  if (real_valued(visible) != real) {
    throw DataError(fmt::format("{}: {} visible units take {}, and these are {}", data.name, name_of(visible),
                                real_valued(visible) ? "real numbers" : "bits or letters",
                                real ? "real numbers; use gaussian ones" : "not"));
  }
  if (std::holds_alternative<Relu>(visible)) {
    for (std::size_t r = 0; r < data.rows(); ++r) {
      for (std::size_t i = 0; i < data.units(); ++i) {
        if (data.reals()(r, i) >= 0.0f) continue;
        throw DataError(
            fmt::format("{}: row {}, column {} (counted from 0): relu units are not negative, found {}; use "
                        "gaussian ones",
                        data.name, r, i, data.reals()(r, i)));
      }
    }
  }
  if (letters_of(visible) > 0 && letters_of(visible) != data.letters) {
    throw DataError(fmt::format("{}: expected {} letters, as the machine has; found {}", data.name, letters_of(visible),
                                data.letters));
  }
}

void require_complete(const Dataset& data) {
  if (data.complete()) return;
  throw DataError(fmt::format("{}: expected complete rows, found {} missing values; fill them in, or leave them out",
                              data.name, data.missing()));
}

std::map<std::string, std::string> notes_of_data(const Dataset& data) {
  std::map<std::string, std::string> notes;
  if (data.shape.height > 0) notes["picture"] = shape_text(data.shape);
  notes["data"] = as_utf8(std::filesystem::path(data.name).filename().string());
  return notes;
}

State first_rows(const Layer& visible, const Dataset& data, std::size_t count, Key key) {
  std::vector<std::uint32_t> rows(std::min(count, data.rows()));
  std::iota(rows.begin(), rows.end(), 0u);
  return state_of(visible, gather(data, rows, key, 0));
}

}  // namespace ergodic
