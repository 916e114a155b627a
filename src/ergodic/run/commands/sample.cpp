// `ergodic sample`: pictures or arrays of samples, from an independent start or from rows some of whose units stay.
#include "ergodic/run/sample.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ergodic/core/clock.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/format/png.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/machine/model_file.hpp"
#include "ergodic/machine/pictures.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/machine/snapshots.hpp"
#include "ergodic/run/commands/data.hpp"
#include "ergodic/run/commands/json.hpp"
#include "ergodic/run/commands/output.hpp"
#include "ergodic/run/commands/request.hpp"
#include "ergodic/run/commands/text.hpp"
#include "ergodic/run/finite.hpp"

namespace ergodic {
namespace {

struct SampleRequest {
  std::filesystem::path model;
  std::uint64_t count = 100;
  SamplingOptions sampling;
  std::filesystem::path path;
  bool means = false;
  std::uint64_t seed = 1;
  std::filesystem::path watch;  ///< the weights of a sum that is watched too
  DataOptions data;             ///< rows at which chains start, or none
  Split split = Split::kAuto;
  std::filesystem::path fixed;  ///< the mask of the units that stay, with such rows
  std::filesystem::path out;
};

Spec<SampleRequest> make_spec() {
  Spec<SampleRequest> spec;
  add_model_file(spec, &SampleRequest::model);
  spec.group("Sampling")
      .add("count", &SampleRequest::count, "how many samples, each from a chain of its own")
      .range(1, 1000000);
  spec.include(sampling_spec(), &SampleRequest::sampling);
  spec.add("path", &SampleRequest::path,
           "the folder of `ergodic train --trajectory`: levels of tempering are the machines that training met, "
           "instead of temperatures")
      .role(PathRole::kFolder)
      .advanced()
      .add("means", &SampleRequest::means, "show the expected values given the hidden layer instead of drawn states");
  add_seed(spec, &SampleRequest::seed);
  spec.add(
          "watch", &SampleRequest::watch,
          "rows of numbers, one for each visible unit (npy, csv): whether the sum of the units, each times its number, "
          "has mixed is judged beside the energy and the activity")
      .role(PathRole::kInput)
      .advanced();
  spec.group("Completion")
      .add(
          "data", [](auto& r) -> auto& { return r.data.source; },
          "rows at which the chains start, as for `ergodic train`; with --fixed")
      .placeholder("DATA")
      .role(PathRole::kInput)
      .not_part_of_result();
  add_split(spec, &SampleRequest::split);
  spec.add("fixed", &SampleRequest::fixed,
           "a mask of one 0 or 1 for each visible unit (npy, csv, idx): those with a 1 keep the values of their row, "
           "and the others are sampled given them")
      .role(PathRole::kInput);
  spec.group("Output")
      .add("out", &SampleRequest::out,
           "a picture sheet (.png; of two real units the landscape of their energy beside points) or an array (.npy, "
           ".csv)")
      .role(PathRole::kOutput)
      .required();
  return spec;
}

/// Which visible units stay: a bit for each unit, or for each site of letters, in any shape of rows.
Bits read_mask(const std::filesystem::path& path, const Layer& visible) {
  DataOptions options;
  options.source = path.string();
  const Dataset data = load_data(options).train;
  const std::vector<Site> all = sites(visible);
  if (data.rows() * data.units() != all.size()) {
    throw DataError(fmt::format("{}: expected a mask of {} values, one for each visible {}; found {} rows of {}",
                                path.string(), all.size(), all.size() < units_of(visible) ? "site" : "unit",
                                data.rows(), data.units()));
  }
  Bits out(1, units_of(visible));
  std::size_t fixed = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const bool stays = data.bits().get(k / data.units(), k % data.units());
    for (std::size_t u = 0; u < all[k].size; ++u) out.set(0, all[k].first + u, stays);
    fixed += stays ? 1 : 0;
  }
  if (fixed == all.size())
    throw DataError(fmt::format("{}: all {} values are 1: nothing is left to sample", path.string(), all.size()));
  return out;
}

/// A number for each visible unit, in any shape of rows.
std::vector<float> read_weights(const std::filesystem::path& path, const Layer& visible) {
  DataOptions options;
  options.source = path.string();
  options.kind = ValueKind::kReal;
  const Dataset found = load_data(options).train;
  if (found.rows() * found.units() != units_of(visible)) {
    throw DataError(fmt::format("{}: expected {} numbers, one for each visible unit; found {} rows of {}",
                                path.string(), units_of(visible), found.rows(), found.units()));
  }
  return {found.reals().elements().begin(), found.reals().elements().end()};
}

/// As many rows as there are chains, from the first again if there are fewer.
State start_rows(const SampleRequest& request, const Machine& machine, const Context& context) {
  const Layer visible = machine.visible();
  const Dataset data = load_split_for(machine, request.data, request.split, context).chosen;
  const State rows = first_rows(visible, data, request.count, Key{request.seed});
  State out = make_state(visible, request.count);
  for (std::size_t r = 0; r < out.chains(); ++r) out.set_row(r, rows, r % rows.chains());
  return out;
}

void require_consistent(const SampleRequest& request) {
  require_ending(request.out, {".png", ".npy", ".csv"});
  require(request.data.source.empty() == request.fixed.empty(),
          "--data gives the rows to complete and --fixed the units of them that stay: give both, or neither");
  require(request.path.empty() || request.sampling.sampler == kTempering,
          fmt::format("--path gives the levels of tempering, and --sampler is {}; take --sampler tempering",
                      request.sampling.sampler));
  const SamplingOptions standard;
  require(request.path.empty() ||
              (request.sampling.levels == standard.levels && request.sampling.hottest == standard.hottest),
          "--temperatures and --hottest make a ladder of one machine, and --path one of many: leave out either");
  require(!request.means || request.sampling.sampler != kAnnealing,
          "annealing looks for states of low energy, which have no expected values; leave out --means");
  require(request.watch.empty() || request.sampling.sampler != kAnnealing,
          "annealing looks for states of low energy, and nothing is watched for mixing; leave out --watch");
}

/// UsageError unless the machine has expected values to show.
void require_means(const Machine& machine, const Context& context) {
  require(
      machine.means_of(machine.start(1, {}, context), context).has_value(),
      fmt::format("--means shows expected values given the hidden layer of a restricted Boltzmann machine, and this "
                  "is a {}; leave it out",
                  machine.kind().title));
}

Json json_of_result(const SampleRequest& request, const Samples& samples, double seconds) {
  Json out{{"out", request.out.string()}, {"count", request.count},
           {"sweeps", samples.sweeps},    {"seconds", seconds},
           {"stopped", samples.stopped},  {"mixing", samples.mixing ? json_of(*samples.mixing) : Json()}};
  if (samples.accepted) out["accepted"] = *samples.accepted;
  if (!samples.swapped.empty()) out["swapped"] = samples.swapped;
  if (samples.lowest) {
    out["lowest_energy"] = samples.lowest->energy;
    out["lowest_chains"] = samples.lowest->chains;
  }
  return out;
}

std::string text_of_result(const SampleRequest& request, const Samples& samples, double seconds) {
  if (samples.stopped) {
    return fmt::format("stopped after {} of {} sweeps; nothing written\n", samples.sweeps, request.sampling.sweeps);
  }
  std::string out = fmt::format("{} samples after {} sweeps in {:.1f} s are in {}\n", request.count, samples.sweeps,
                                seconds, request.out.string());
  if (samples.accepted) out += fmt::format("accepted {:.1f} % of the proposals\n", 100.0 * *samples.accepted);
  out += swap_text(samples.swapped);
  if (samples.lowest) {
    out += fmt::format("the lowest energy is {:.6g}, found by {} of {} chains\n", samples.lowest->energy,
                       samples.lowest->chains, request.count);
  }
  return out + (samples.mixing ? text_of(*samples.mixing) : "");
}

Outcome run(const SampleRequest& request, bool json, const Context& context) {
  require_consistent(request);
  const ModelFile file = load_model(request.model);
  const Machine& machine = *file.machine;
  const Layer visible = machine.visible();
  SamplingOptions options = request.sampling;
  options.stations = read_snapshots(request.path, machine);
  SampleStart start{request.count, {}, {}};
  if (!request.fixed.empty()) {
    start.fixed = read_mask(request.fixed, visible);
    start.rows = start_rows(request, machine, context);
  }
  if (request.means) require_means(machine, context);
  std::vector<WatchedNumber> watched;
  if (!request.watch.empty()) watched.push_back(watched_sum(read_weights(request.watch, visible)));
  const double started = steady_seconds();
  const Samples samples = sample(machine, options, start, watched, Key{request.seed}, context);
  const double seconds = steady_seconds() - started;
  if (!samples.stopped) {
    const Matrix<float> values =
        request.means ? *machine.means_of(samples.chains, context) : plain_values(samples.visible);
    require_finite(values.view(), "expected values");
    if (is_picture(request.out)) {
      write_png(request.out, machine.picture(values, shape_from_notes(file.notes, values.cols()), context));
    } else {
      write_rows(request.out, visible, values, request.means ? RowValues::kMeans : RowValues::kDrawn,
                 unit_names_from(file.notes, sites(visible).size()));
    }
  }
  return {json ? printed(json_of_result(request, samples, seconds)) : "", text_of_result(request, samples, seconds),
          samples.stopped};
}

}  // namespace

Command sample_command() {
  return command_of("sample", "draw from a machine by a Markov chain",
                    "ergodic sample digits.safetensors --count 100 --sweeps 1000 --out samples.png", make_spec(), run);
}

}  // namespace ergodic
