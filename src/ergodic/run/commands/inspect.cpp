// `ergodic inspect`: what is in a model file.
#include "ergodic/run/inspect.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ergodic/core/error.hpp"
#include "ergodic/format/png.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/machine/model_file.hpp"
#include "ergodic/machine/pictures.hpp"
#include "ergodic/report/sheet.hpp"
#include "ergodic/report/text.hpp"
#include "ergodic/run/commands/json.hpp"
#include "ergodic/run/commands/output.hpp"
#include "ergodic/run/commands/request.hpp"

namespace ergodic {
namespace {

struct InspectRequest {
  std::filesystem::path model;
  std::filesystem::path filters, couplings, biases;
  std::uint64_t filter_count = 100;
  std::uint64_t scale = 1;
};

Spec<InspectRequest> make_spec() {
  Spec<InspectRequest> spec;
  add_model_file(spec, &InspectRequest::model, "a model file");
  spec.group("Output")
      .add("filters", &InspectRequest::filters, "draw the weights of the strongest hidden units here (.png)")
      .role(PathRole::kOutput)
      .add("filter-count", &InspectRequest::filter_count, "how many of them")
      .range(1, 100000)
      .add("couplings", &InspectRequest::couplings,
           "write all couplings, of an RBM its weights: unit, unit, coupling, counted from 1 (.csv, .npy), or draw "
           "their matrix, red where they are positive and blue where negative (.png)")
      .role(PathRole::kOutput)
      .add("biases", &InspectRequest::biases,
           "write the biases of all units: layer, unit, bias (.csv, .npy), or draw those of the visible units (.png)")
      .role(PathRole::kOutput);
  add_scale(spec, &InspectRequest::scale);
  return spec;
}

Json json_of_result(const Inspection& found, const ModelFile& file) {
  Json out{{"model", found.kind}, {"visible", units_of(found.visible)}, {"visible_type", name_of(found.visible)}};
  add_facts(out, found.facts);
  out["parameters"] = found.parameters;
  out["digest"] = file.verified ? "agrees" : "none";
  for (const auto& [name, range] : found.ranges) {
    out["ranges"][name] = {
        {"smallest", range.smallest}, {"largest", range.largest}, {"root_mean_square", range.root_mean_square}};
  }
  out["notes"] = file.notes;
  return out;
}

std::string text_of_fact(const FactValue& value) {
  struct {
    std::string operator()(std::monostate) const { return "none"; }
    std::string operator()(std::uint64_t count) const { return std::to_string(count); }
    std::string operator()(double number) const { return fmt::format("{:.4g}", number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const std::vector<std::uint64_t>& counts) const {
      return fmt::format("{}", fmt::join(counts, ", "));
    }
  } writer;
  return std::visit(writer, value);
}

/// Text of the file, which may be of any length and hold anything.
std::string shown(const std::string& text) {
  constexpr std::size_t kLongest = 4000;
  return one_line(text.substr(0, kLongest)) +
         (text.size() > kLongest ? fmt::format("... ({} bytes)", text.size()) : "");
}

std::string text_of_result(const Inspection& found, const ModelFile& file) {
  const auto row = [](const std::string& name, const std::string& value) {
    return fmt::format("{:<12}{}\n", name, value);
  };
  std::string out =
      found.title + "\n" + row("visible", fmt::format("{} {}", units_of(found.visible), name_of(found.visible)));
  for (const auto& [name, value] : found.facts) out += row(name, shown(text_of_fact(value)));
  out += row("parameters", std::to_string(found.parameters)) +
         row("digest", file.verified ? "agrees" : "none (written by another program)");
  for (const auto& [name, range] : found.ranges) {
    out += fmt::format("{:<12}  from {:.4g} to {:.4g}, root mean square {:.4g}\n", name, range.smallest, range.largest,
                       range.root_mean_square);
  }
  for (const auto& [name, value] : file.notes) out += fmt::format("{}: {}\n", shown(name), shown(value));
  return out;
}

/// Numbers in the colours of filters.
Image signed_picture(std::span<const float> numbers, PictureShape shape) {
  return signed_sheet({numbers.data(), 1, numbers.size()}, {shape.height, shape.width});
}

/// All units of a machine whose couplings join units of one layer; of others, visible ones by hidden ones.
Image picture_of_couplings(const std::vector<std::array<double, 3>>& all, bool two_layers) {
  constexpr std::size_t kMostPixels = std::size_t{1} << 26;
  std::size_t rows = 0, cols = 0;
  for (const auto& [i, j, w] : all) {
    rows = std::max(rows, static_cast<std::size_t>(i));
    cols = std::max(cols, static_cast<std::size_t>(j));
  }
  if (!two_layers) rows = cols = std::max(rows, cols);
  require(rows * cols <= kMostPixels,
          fmt::format("--couplings: a matrix of {} x {} is too large for a picture; take .csv or .npy", rows, cols));
  std::vector<float> matrix(rows * cols);
  for (const auto& [i, j, w] : all) {
    const auto row = static_cast<std::size_t>(i) - 1, col = static_cast<std::size_t>(j) - 1;
    matrix[row * cols + col] = static_cast<float>(w);
    if (!two_layers) matrix[col * cols + row] = static_cast<float>(w);
  }
  return signed_picture(matrix, {rows, cols});
}

void write_couplings(const std::filesystem::path& out, const Machine& machine, std::size_t scale) {
  std::vector<std::array<double, 3>> all;
  const bool some = machine.for_couplings([&](std::size_t i, std::size_t j, double w) {
    all.push_back({static_cast<double>(i + 1), static_cast<double>(j + 1), w});
  });
  require(some, fmt::format("--couplings: a {} has no couplings between pairs of units", machine.kind().title));
  if (is_picture(out)) {
    const bool two_layers = machine.start(1, {}, {}).layers.size() > 1;
    return write_png(out, magnified(picture_of_couplings(all, two_layers), scale));
  }
  Matrix<double> table(all.size(), 3);
  for (std::size_t r = 0; r < all.size(); ++r) std::ranges::copy(all[r], table.row(r).begin());
  write_table(out, {"unit", "unit", "coupling"}, table);
}

/// The slots that are biases, in order: of the visible layer, then of the hidden one.
std::vector<std::span<const float>> biases_of(const Machine& machine) {
  std::vector<std::span<const float>> out;
  for (const Slot& slot : machine.parameters().slots()) {
    if (slot.name.ends_with("bias")) out.push_back(machine.parameters()[slot.name.c_str()]);
  }
  return out;
}

void write_biases(const std::filesystem::path& out, const Machine& machine, PictureShape shape, std::size_t scale) {
  const std::vector<std::span<const float>> layers = biases_of(machine);
  require(!layers.empty(), fmt::format("--biases: a {} has no biases", machine.kind().title));
  if (is_picture(out)) {
    const std::span<const float> visible = layers[0].first(pictured_units(machine.visible()));
    return write_png(out, magnified(signed_picture(visible, drawn_shape(shape, visible.size())), scale));
  }
  std::size_t count = 0, row = 0;
  for (const auto& biases : layers) count += biases.size();
  Matrix<double> table(count, 3);
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    for (std::size_t i = 0; i < layers[layer].size(); ++i, ++row) {
      table(row, 0) = static_cast<double>(layer + 1);
      table(row, 1) = static_cast<double>(i + 1);
      table(row, 2) = layers[layer][i];
    }
  }
  write_table(out, {"layer", "unit", "bias"}, table);
}

Outcome run(const InspectRequest& request, bool json, const Context&) {
  require_ending("--filters", request.filters, {".png"});
  require_ending("--couplings", request.couplings, {".csv", ".npy", ".png"});
  require_ending("--biases", request.biases, {".csv", ".npy", ".png"});
  require_distinct({{"--filters", request.filters}, {"--couplings", request.couplings}, {"--biases", request.biases}});
  const ModelFile file = load_model(request.model);
  const Inspection found = inspect(*file.machine);
  if (!request.filters.empty()) {
    const auto picture =
        file.machine->filters(shape_from_notes(file.notes, pictured_units(found.visible)), request.filter_count);
    require(picture.has_value(),
            fmt::format("--filters needs a restricted Boltzmann machine, found a {}", found.title));
    write_png(request.filters, magnified(*picture, request.scale));
  }
  if (!request.couplings.empty()) write_couplings(request.couplings, *file.machine, request.scale);
  if (!request.biases.empty()) {
    write_biases(request.biases, *file.machine, shape_from_notes(file.notes, pictured_units(found.visible)),
                 request.scale);
  }
  return {json ? printed(json_of_result(found, file)) : text_of_result(found, file), "", false};
}

}  // namespace

Command inspect_command() {
  return command_of("inspect", "show what is in a model file",
                    "ergodic inspect digits.safetensors --filters filters.png", make_spec(), run);
}

}  // namespace ergodic
