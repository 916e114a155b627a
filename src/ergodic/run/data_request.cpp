#include "ergodic/run/data_request.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "ergodic/run/pictures.hpp"

namespace ergodic {
namespace {

/// Text that JSON can hold: a file's name may be any bytes.
std::string as_utf8(const std::string& text) {
  const auto replace = nlohmann::json::error_handler_t::replace;
  return nlohmann::json::parse(nlohmann::json(text).dump(-1, ' ', false, replace)).get<std::string>();
}

}  // namespace

void add_data_options(Spec& spec, DataOptions& options) {
  spec.group("Data")
      .text(
          "data", options.source,
          "the data: a file (npy, npz, idx, idx.gz, csv) or a name (mnist, fashion-mnist, digits, bars-and-stripes:N, "
          "shifting-bars:N; `ergodic data list` shows all)",
          "DATA")
      .required()
      .incidental()  // what is in it shapes the result, not where it lies
      .path("labels", options.labels, "a file with one label for each row, if the data has none inside")
      .incidental()
      .choice("binarise", options.binarise,
              "how grey levels become bits: on from a threshold up, one fixed random draw, or a new draw each epoch")
      .number("threshold", options.threshold, 0.0, 1.0, "the grey level from which a bit is on")
      .number("test-share", options.test_share, 0.0, 1.0,
              "share of the rows that become the test part of a set without its own");
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

Bits all_rows(const Dataset& data, Key key) {
  if (data.grey.rows() == 0) return data.bits;
  std::vector<std::uint32_t> rows(data.rows());
  std::iota(rows.begin(), rows.end(), 0u);
  return gather(data, rows, key, 0);
}

std::map<std::string, std::string> notes_of_data(const Dataset& data) {
  std::map<std::string, std::string> notes;
  if (data.shape.height > 0) notes["picture"] = shape_text(data.shape);
  notes["data"] = as_utf8(std::filesystem::path(data.name).filename().string());
  return notes;
}

void require_matching_units(const Dataset& data, std::size_t visible_units) {
  if (data.units() != visible_units) {
    throw DataError(fmt::format("{}: expected rows of {} values, as the machine has visible units; found {}", data.name,
                                visible_units, data.units()));
  }
}

}  // namespace ergodic
