// `ergodic sample`: pictures or arrays of samples, from an independent start or from rows some of whose units stay.
#include "ergodic/run/sample.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ergodic/core/clock.hpp"
#include "ergodic/core/number_text.hpp"
#include "ergodic/format/png.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/machine/model_file.hpp"
#include "ergodic/machine/pictures.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/machine/snapshots.hpp"
#include "ergodic/report/sheet.hpp"
#include "ergodic/run/commands/json.hpp"
#include "ergodic/run/commands/mask.hpp"
#include "ergodic/run/commands/output.hpp"
#include "ergodic/run/commands/request.hpp"
#include "ergodic/run/commands/sample_request.hpp"
#include "ergodic/run/commands/text.hpp"
#include "ergodic/run/finite.hpp"

namespace ergodic {
namespace {

constexpr std::uint64_t kSamplesOfClass = 10;  // of each, if there are several

/// Which visible units stay, the same for all rows.
Bits read_fixed(const std::filesystem::path& path, const Layer& visible) {
  const Bits out = read_mask(path, visible, 1);
  std::size_t free = 0;
  for (std::size_t i = 0; i < out.cols(); ++i) free += out.get(0, i) ? 0 : 1;
  if (free == 0) throw DataError(fmt::format("{}: all values are 1: nothing is left to sample", path.string()));
  return out;
}

/// A number for each visible unit, in any shape of rows.
std::vector<float> read_weights(const std::filesystem::path& path, const Layer& visible) {
  DataOptions options;
  options.source = path.string();
  options.one_row = true;
  options.kind = ValueKind::kReal;
  const Dataset found = load_data(options).train;
  if (found.rows() * found.units() != units_of(visible)) {
    throw DataError(fmt::format("{}: expected {} numbers, one for each visible unit; found {} rows of {}",
                                path.string(), units_of(visible), found.rows(), found.units()));
  }
  return {found.reals().elements().begin(), found.reals().elements().end()};
}

/// As many rows as there are chains, from the first again if there are fewer; all of them, if that is left open.
State start_rows(const SampleRequest& request, const ModelFile& file, const Context& context) {
  const Layer visible = file.machine->visible();
  const Dataset data = load_split_for(file, request.data, request.split, context).chosen;
  require_complete(data);
  const std::size_t count = request.count.value_or(data.rows());
  if (count > data.rows()) {
    context.note(
        fmt::format("--count {} is more than the {} rows, which are taken again from the first", count, data.rows()));
  }
  const State rows = first_rows(visible, data, count, Key{request.seed});
  State out = make_state(visible, count);
  for (std::size_t r = 0; r < out.chains(); ++r) out.set_row(r, rows, r % rows.chains());
  return out;
}

/// The classes that --label names.
std::vector<std::size_t> labels_named(const std::string& text, const ModelFile& file) {
  const std::optional<ClassUnits> classes = file.machine->class_units();
  const std::vector<std::string> names = class_names_from(file.notes);
  std::vector<std::size_t> out;
  if (!classes) return {0};  // which labelled_start refuses
  const auto named = [&](const std::string& word) -> std::optional<std::size_t> {
    const auto found = std::ranges::find(names, word);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    return number_in<std::size_t>(word);
  };
  if (text == "all" && !named(text)) {
    for (std::size_t c = 0; c < classes->count; ++c) {
      if (std::ranges::find(classes->unseen, c) == classes->unseen.end()) out.push_back(c);
    }
    return out;
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const std::optional<std::size_t> label = named(word);
    require(label.has_value(),
            fmt::format("--label: expected all, or classes from 0 to {}{} with commas between them; found '{}'",
                        classes->count - 1,
                        names.empty() ? "" : fmt::format(" or of the names {}", fmt::join(names, ", ")), word));
    out.push_back(*label);
    begin = end + 1;
  }
  return out;
}

/// Whether samples are shown as expected values given the hidden layer. UsageError if that is asked for, and the
/// machine has none.
bool shows_means(const SampleRequest& request, const Machine& machine, const Context& context) {
  const bool sheet = is_picture(request.out) && !is_plane(machine.visible());  // points of a plane are draws
  const bool wanted =
      request.means || (sheet && !request.drawn && request.plain() && request.sampling.sampler != kAnnealing);
  if (!wanted) return false;
  const bool possible = machine.means_of(machine.start(1, {}, context), context).has_value();
  require(
      possible || !request.means,
      fmt::format("--means shows expected values given the hidden layer of a restricted Boltzmann machine, and this "
                  "is a {}; leave it out",
                  machine.kind().title));
  return possible;
}

/// Units that are fixed have the values of their row.
void keep_fixed(const SampleStart& start, Matrix<float>& values) {
  if (start.fixed.rows() == 0) return;
  const Matrix<float> given = plain_values(start.rows);
  for (std::size_t r = 0; r < values.rows(); ++r) {
    for_each_set(start.fixed.row(0), [&](std::size_t i) { values(r, i) = given(r, i); });
  }
}

/// One state below the other.
void append(Matrix<float>& all, const Matrix<float>& more) {
  Matrix<float> out(all.rows() + more.rows(), more.cols());
  std::ranges::copy(all.elements(), out.elements().begin());
  std::ranges::copy(more.elements(), out.elements().begin() + static_cast<std::ptrdiff_t>(all.elements().size()));
  all = std::move(out);
}

/// The samples of one temperature: level by level, chain by chain, draw by draw.
Matrix<float> all_samples(const Samples& samples) {
  const std::size_t chains = samples.visible.chains(), draws = samples.draws.size();
  Matrix<float> out(chains * draws, samples.visible.units());
  for (std::size_t d = 0; d < draws; ++d) {
    const Matrix<float> values = plain_values(samples.draws[d]);
    for (std::size_t r = 0; r < chains; ++r) std::ranges::copy(values.row(r), out.row(r * draws + d).begin());
  }
  return out;
}

/// Everything that a run of the command has found, over all temperatures.
struct Found {
  Matrix<float> values;
  std::vector<std::size_t> dimensions;        ///< of the array, before the units
  std::vector<std::vector<double>> energies;  ///< rows of temperature, chain, draw, energy
  std::vector<Samples> runs;                  ///< without states
  double seconds = 0.0;

  bool stopped() const { return runs.back().stopped; }
};

void add_energies(Found& out, double temperature, const Samples& samples) {
  for (std::size_t c = 0; c < samples.energies[0].size(); ++c) {
    for (std::size_t d = 0; d < samples.energies.size(); ++d) {
      out.energies.push_back(
          {temperature, static_cast<double>(c + 1), static_cast<double>(d + 1), samples.energies[d][c]});
    }
  }
}

Found sample_all(const SampleRequest& request, const Machine& machine, const SampleStart& start,
                 const SamplingOptions& options, const std::vector<WatchedNumber>& watched, const Context& context) {
  Found out;
  const bool means = shows_means(request, machine, context);
  const double started = steady_seconds();
  std::size_t levels = 1;
  for (const double temperature : request.temperatures) {
    SamplingOptions at = options;
    at.temperature = temperature;
    Samples samples = sample(machine, at, start, watched, Key{request.seed}, context);
    if (!samples.stopped) {
      Matrix<float> values = means ? *machine.means_of(samples.chains, context) : all_samples(samples);
      keep_fixed(start, values);
      require_finite(values.view(), "expected values");
      append(out.values, values);
      for (std::size_t k = 1; request.all_levels && k < samples.levels.size(); ++k) {
        append(out.values, plain_values(samples.levels[k].first_layer));
      }
      levels = request.all_levels ? samples.levels.size() : 1;
      add_energies(out, temperature, samples);
      for (SampledLevel& level : samples.levels) level.first_layer = {};
      samples.draws.clear();
    }
    out.runs.push_back(std::move(samples));
    if (out.stopped()) break;
  }
  out.seconds = steady_seconds() - started;
  if (request.temperatures.size() > 1) out.dimensions.push_back(request.temperatures.size());
  if (levels > 1) out.dimensions.push_back(levels);
  out.dimensions.push_back(start.rows.chains() > 0 ? start.rows.chains() : start.count);
  if (request.sampling.draws > 1) out.dimensions.push_back(request.sampling.draws);
  return out;
}

Json json_of_run(const Samples& samples) {
  Json out{{"mixing", samples.mixing ? json_of(*samples.mixing) : Json()}};
  if (samples.accepted) out["accepted"] = *samples.accepted;
  if (!samples.swapped.empty()) out["swapped"] = samples.swapped;
  for (const SampledLevel& level : samples.levels) {
    if (level.beta) out["inverse_temperatures"].push_back(*level.beta);
  }
  if (samples.unsure) out["unsure"] = *samples.unsure;
  if (samples.lowest) {
    out["lowest_energy"] = samples.lowest->energy;
    out["lowest_chains"] = samples.lowest->chains;
  }
  return out;
}

Json json_of_result(const SampleRequest& request, const Found& found, std::size_t chains) {
  const Samples& last = found.runs.back();
  Json out{{"out", request.out.string()},
           {"count", chains},
           {"sweeps", last.sweeps},
           {"seconds", found.seconds},
           {"stopped", found.stopped()}};
  if (found.runs.size() == 1) {
    out.update(json_of_run(last));
    return out;
  }
  for (std::size_t k = 0; k < found.runs.size(); ++k) {
    Json run = json_of_run(found.runs[k]);
    run["temperature"] = request.temperatures[k];
    out["runs"].push_back(std::move(run));
  }
  return out;
}

std::string text_of_run(const Samples& samples, std::size_t chains) {
  std::string out;
  if (samples.accepted) out += fmt::format("accepted {:.1f} % of the proposals\n", 100.0 * *samples.accepted);
  out += swap_text(samples.swapped);
  if (samples.unsure && *samples.unsure > 0) {
    out += fmt::format("{} of {} samples are less sure than asked for: their chains came to nothing surer\n",
                       *samples.unsure, chains);
  }
  if (samples.lowest) {
    out += fmt::format("the lowest energy is {:.6g}, found by {} of {} chains\n", samples.lowest->energy,
                       samples.lowest->chains, chains);
  }
  return out + (samples.mixing ? text_of(*samples.mixing) : "");
}

std::string text_of_result(const SampleRequest& request, const Found& found, std::size_t chains) {
  const Samples& last = found.runs.back();
  if (found.stopped()) return fmt::format("stopped after {} sweeps; nothing written\n", last.sweeps);
  std::string out = fmt::format("{} samples after {} sweeps in {:.1f} s are in {}\n", found.values.rows(), last.sweeps,
                                found.seconds, request.out.string());
  for (std::size_t k = 0; k < found.runs.size(); ++k) {
    const std::string text = text_of_run(found.runs[k], chains);
    if (found.runs.size() > 1 && !text.empty()) out += fmt::format("temperature {}: ", request.temperatures[k]);
    out += text;
  }
  return out;
}

/// The tables of mixing of all runs.
std::string details_of(const Found& found, const SampleRequest& request) {
  std::string out;
  for (std::size_t k = 0; k < found.runs.size(); ++k) {
    if (!found.runs[k].mixing) continue;
    if (found.runs.size() > 1) out += fmt::format("temperature {}:\n", request.temperatures[k]);
    out += details_of(*found.runs[k].mixing);
  }
  return out;
}

/// A sheet; with a row for each class, if there are several.
Image picture_of(const SampleRequest& request, const ModelFile& file, const Found& found, const SampleStart& start,
                 const Context& context) {
  const std::size_t units = pictured_units(file.machine->visible());
  const PictureShape shape = shape_from_notes(file.notes, units);
  if (start.given_alike == 0 || start.given_alike == start.rows.chains()) {
    return file.machine->picture(found.values, shape, context);
  }
  return picture_of_rows(first_columns(found.values, units), shape, start.given_alike * request.sampling.draws);
}

void write(const SampleRequest& request, const ModelFile& file, const Found& found, const SampleStart& start,
           RowsFile written, const Context& context) {
  if (is_picture(request.out)) {
    write_png(request.out, magnified(picture_of(request, file, found, start, context), request.scale));
  } else {
    written.dimensions = found.dimensions;
    write_rows(request.out, found.values, written);
  }
  if (request.energies.empty()) return;
  Matrix<double> table(found.energies.size(), 4);
  for (std::size_t r = 0; r < table.rows(); ++r) std::ranges::copy(found.energies[r], table.row(r).begin());
  write_table(request.energies, {"temperature", "chain", "draw", "energy"}, table);
}

Outcome run(const SampleRequest& request, bool json, const Context& context) {
  require_consistent(request);
  const ModelFile file = load_model(request.model);
  const Machine& machine = *file.machine;
  const RowsFile written = rows_file(file, request.means ? RowValues::kMeans : RowValues::kDrawn);
  require_rows_file(request.out, written);
  SamplingOptions options = request.sampling;
  options.stations = read_snapshots(request.path, machine);
  if (!options.stations.empty()) options.sampler = std::string(kTempering);
  SampleStart start{request.count.value_or(SampleStart().count), {}, {}};
  if (!request.fixed.empty()) {
    start.fixed = read_fixed(request.fixed, machine.visible());
    start.rows = start_rows(request, file, context);
  }
  if (!request.labels.empty()) {
    const std::vector<std::size_t> labels = labels_named(request.labels, file);
    const std::uint64_t each = request.count.value_or(labels.size() > 1 ? kSamplesOfClass : start.count);
    start = labelled_start(machine, labels, each, Key{request.seed}, context);
    start.sure = request.sure;
  }
  std::vector<WatchedNumber> watched;
  if (!request.watch.empty()) watched.push_back(watched_sum(read_weights(request.watch, machine.visible())));
  const Found found = sample_all(request, machine, start, options, watched, context);
  const std::size_t chains = start.rows.chains() > 0 ? start.rows.chains() : start.count;
  if (!found.stopped()) write(request, file, found, start, written, context);
  return {json ? printed(json_of_result(request, found, chains)) : "", text_of_result(request, found, chains),
          found.stopped(), details_of(found, request)};
}

}  // namespace

Command sample_command() {
  return command_of("sample", "draw samples from a machine by Markov chains",
                    "ergodic sample digits.safetensors --count 100 --sweeps 1000 --out samples.png", sample_spec(),
                    run);
}

}  // namespace ergodic
