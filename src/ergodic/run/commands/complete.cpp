// `ergodic complete`: rows with values that are missing or hidden, filled in by a machine.
#include "ergodic/run/complete.hpp"

#include <fmt/format.h>

#include "ergodic/core/error.hpp"
#include "ergodic/core/part_of_whole.hpp"
#include "ergodic/format/png.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/machine/model_file.hpp"
#include "ergodic/machine/pictures.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/report/sheet.hpp"
#include "ergodic/run/commands/data.hpp"
#include "ergodic/run/commands/json.hpp"
#include "ergodic/run/commands/mask.hpp"
#include "ergodic/run/commands/output.hpp"
#include "ergodic/run/commands/request.hpp"

namespace ergodic {
namespace {

struct CompleteRequest {
  std::filesystem::path model;
  DataOptions data;
  Split split = Split::kAuto;
  std::string mask;
  std::optional<std::uint64_t> count;
  CompleteOptions options;
  std::uint64_t seed = 1;
  std::filesystem::path out;
  std::uint64_t scale = 1;

  bool picture() const { return is_picture(out); }
};

constexpr std::size_t kPicturedRows = 40;
constexpr double kShareOfDrawing = 0.5;  // of the work, about, where the completions are judged too

Spec<CompleteRequest> make_spec() {
  Spec<CompleteRequest> spec;
  add_model_file(spec, &CompleteRequest::model);
  spec.include(data_spec(), &CompleteRequest::data);
  spec.group("Data");
  add_split(spec, &CompleteRequest::split);
  spec.add("count", &CompleteRequest::count, "how many rows, from the first")
      .range(1, 1e9)
      .automatic(fmt::format("all; {} for a picture", kPicturedRows));
  spec.group("Completion")
      .add("mask", &CompleteRequest::mask, kMaskHelp)
      .placeholder("MASK")
      .role(PathRole::kInput)
      .add(
          "draws", [](auto& r) -> auto& { return r.options.draws; }, "completions of each row")
      .range(1, 1000000)
      .add(
          "means", [](auto& r) -> auto& { return r.options.means; },
          "expected values, averaged over the second half of the sweeps, instead of draws")
      .add(
          "sweeps", [](auto& r) -> auto& { return r.options.sweeps; }, "sweeps of each chain, at what is known")
      .range(2, 1e9);
  add_seed(spec, &CompleteRequest::seed);
  spec.group("Output")
      .add("out", &CompleteRequest::out,
           "complete rows (.csv, .npy, .fasta; with several draws all those of the first row come first), or a picture "
           "of each row damaged, completed and, where that is known, as it was (.png)")
      .role(PathRole::kOutput)
      .required();
  add_scale(spec, &CompleteRequest::scale);
  return spec;
}

/// The first rows of a data set.
Dataset first_of(const Dataset& data, const CompleteRequest& request) {
  const std::uint64_t wanted = request.count.value_or(request.picture() ? kPicturedRows : data.rows());
  std::vector<std::uint32_t> rows(std::min<std::uint64_t>(wanted, data.rows()));
  for (std::size_t r = 0; r < rows.size(); ++r) rows[r] = static_cast<std::uint32_t>(r);
  return select(data, rows);
}

/// UsageError if there is nothing to fill in.
void require_gaps(const OpenRows& open, const std::string& name, const std::string& mask) {
  for (std::size_t r = 0; r < open.rows.chains(); ++r) {
    if (!open.complete(r)) return;
  }
  throw UsageError(fmt::format("{}: nothing is missing{}", name,
                               mask.empty() ? "; say with --mask what to hide" : ", and --mask hides nothing"));
}

/// Damaged, completed, original: values that are not known are grey.
Image picture_of(const Machine& machine, const OpenRows& open, const Completions& found, bool truth_known,
                 PictureShape shape, std::size_t draws) {
  const Layer visible = machine.visible();
  Matrix<float> original = drawable(plain_values(open.rows), visible), damaged = original;
  for (std::size_t r = 0; r < damaged.rows(); ++r) {
    for (std::size_t i = 0; i < damaged.cols(); ++i) {
      if (!open.known.get(r, i)) damaged(r, i) = 0.5f;
    }
  }
  std::vector<Matrix<float>> columns{std::move(damaged)};
  const Matrix<float> shown = drawable(found.shown, visible);
  for (std::size_t d = 0; d < draws; ++d) {
    Matrix<float> column(original.rows(), original.cols());
    for (std::size_t r = 0; r < column.rows(); ++r) {
      std::ranges::copy(shown.row(r * draws + d), column.row(r).begin());
    }
    columns.push_back(std::move(column));
  }
  if (truth_known) columns.push_back(std::move(original));
  for (Matrix<float>& column : columns) column = first_columns(column, pictured_units(visible));
  return picture_of_groups(columns, shape);
}

Json json_of_filling(const FillingQuality& found) {
  return {{"error", found.error}, {"log_probability", json_of(std::optional(found.log_probability))}};
}

Json json_of_quality(const CompletionQuality& found) {
  return {{"rows", found.rows},
          {"hidden_values", found.hidden_sites},
          {"machine", json_of_filling(found.machine)},
          {"independent", json_of_filling(found.independent)},
          {"neighbour", json_of_filling(found.neighbour)}};
}

std::string text_of_quality(const CompletionQuality& found, bool real) {
  const auto line = [&](const char* who, const FillingQuality& q) {
    const Estimate& p = q.log_probability;
    return fmt::format("  {:<18} {}  {:>10.3f}{}\n", who,
                       real ? fmt::format("{:>9.4g}", q.error) : fmt::format("{:>8.2f}%", 100.0 * q.error), p.value,
                       p.lower < p.upper ? fmt::format("  between {:.3f} and {:.3f}", p.lower, p.upper) : "");
  };
  return fmt::format(
             "compared with the true values of {} rows, {:.4g} hidden in each on average:\n  {:<18} {:>9}  {}\n",
             found.rows, found.hidden_sites, "filled in by", real ? "rms error" : "wrong",
             "log-probability of what was hidden, nats a row") +
         line("the machine", found.machine) + line("independent units", found.independent) +
         line("nearest neighbour", found.neighbour);
}

/// What a request asks for, read and looked through.
struct Task {
  SplitData loaded;
  Dataset data;  ///< the first rows of what is loaded
  PictureShape shape;
  OpenRows open;  ///< these rows, with what is to be filled in
};

Task read_task(const CompleteRequest& request, const ModelFile& file, Key key, const Context& context) {
  const Layer visible = file.machine->visible();
  Task out{load_split_for(file, request.data, request.split, context), {}, {}, {}};
  out.data = first_of(out.loaded.chosen, request);
  out.shape = out.data.shape.height > 0 ? out.data.shape : shape_from_notes(file.notes, pictured_units(visible));
  const Bits hidden = request.mask.empty() ? Bits() : mask_from(request.mask, visible, out.shape, out.data.rows(), key);
  out.open = {all_rows(visible, out.data, key), known_without(out.data, hidden)};
  require_gaps(out.open, out.data.name, request.mask);
  return out;
}

Outcome run(const CompleteRequest& request, bool json, const Context& context) {
  require_ending("--out", request.out, {".csv", ".npy", ".png", ".fasta"});
  require_distinct({{"--data", request.data.source},
                    {"--labels", request.data.labels},
                    {"--mask", request.mask},
                    {"--out", request.out}});
  require(!request.options.means || request.options.draws == 1,
          "--means averages over draws, and --draws keeps them: leave out either");
  const ModelFile file = load_model(request.model);
  const Machine& machine = *file.machine;
  const RowsFile written = rows_file(file, request.options.means ? RowValues::kMeans : RowValues::kDrawn);
  require_rows_file(request.out, written);
  const Key key{request.seed};
  const auto& [loaded, data, shape, open] = read_task(request, file, key, context);
  const bool judged = data.complete() && request.options.draws == 1;
  PartOfWhole first(context, 0.0, judged ? kShareOfDrawing : 1.0), second(context, kShareOfDrawing, 1.0);
  const Completions found = complete(machine, open, request.options, key, first.context());
  if (found.stopped) return {"", "stopped; nothing written\n", true};
  if (request.picture()) {
    write_png(request.out, magnified(picture_of(machine, open, found, data.complete(), shape, request.options.draws),
                                     request.scale));
  } else {
    write_rows(request.out, found.values, written);
  }
  Json out{{"out", request.out.string()}, {"rows", data.rows()}, {"draws", request.options.draws}};
  std::string text = fmt::format("{} rows, completed in {} sweeps, are in {}\n", data.rows(), request.options.sweeps,
                                 request.out.string());
  const ReferenceRows reference{loaded.training ? *loaded.training : loaded.chosen, !loaded.training};
  const auto quality =
      judged ? quality_of_completions(machine, open, found.values, reference, key, second.context()) : std::nullopt;
  if (quality) {
    out["quality"] = json_of_quality(*quality);
    text += text_of_quality(*quality, open.rows.real());
  }
  return {json ? printed(out) : "", text, context.stop_requested()};
}

}  // namespace

Command complete_command() {
  return command_of("complete", "fill in values that are missing, or hidden by a mask",
                    "ergodic complete digits.safetensors --data mnist --mask lower --out completed.png", make_spec(),
                    run);
}

}  // namespace ergodic
