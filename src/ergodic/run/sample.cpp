#include "ergodic/run/sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "ergodic/model/visible_marginal.hpp"
#include "ergodic/run/output.hpp"
#include "ergodic/run/pictures.hpp"
#include "ergodic/run/trajectory.hpp"
#include "ergodic/store/model_file.hpp"

namespace ergodic {
namespace {

/// The expected share of units or sites that differ between a row and a draw of its reconstruction; of real units the
/// root of the mean squared difference to the expected values.
double mean_difference(const Layer& visible, const State& rows, const Matrix<float>& means) {
  const Matrix<float> values = plain_values(rows);
  double sum = 0.0;
  for (std::size_t k = 0; k < values.elements().size(); ++k) {
    const double difference = double{values.elements()[k]} - means.elements()[k];
    sum += rows.real() ? difference * difference : std::abs(difference);
  }
  const double sites = static_cast<double>(rows.chains() * sites_of(visible));
  // Where one letter takes the place of another, two units differ.
  return rows.real() ? std::sqrt(sum / sites) : sum / sites / (letters_of(visible) > 0 ? 2.0 : 1.0);
}

/// Which visible units stay: a bit for each unit, or for each site of letters, in any shape of rows.
Bits read_mask(const std::filesystem::path& path, const Layer& visible) {
  DataOptions options;
  options.source = path.string();
  const Dataset data = load_data(options).train;
  const std::size_t sites = sites_of(visible), letters = std::max<std::size_t>(letters_of(visible), 1);
  if (data.rows() * data.units() != sites) {
    throw DataError(fmt::format("{}: expected a mask of {} values, one for each visible {}; found {} rows of {}",
                                path.string(), sites, letters > 1 ? "site" : "unit", data.rows(), data.units()));
  }
  Bits out(1, units_of(visible));
  std::size_t fixed = 0;
  for (std::size_t site = 0; site < sites; ++site) {
    const bool stays = data.bits.get(site / data.units(), site % data.units());
    for (std::size_t letter = 0; letter < letters; ++letter) out.set(0, site * letters + letter, stays);
    fixed += stays ? 1 : 0;
  }
  if (fixed == sites)
    throw DataError(fmt::format("{}: all {} values are 1: nothing is left to sample", path.string(), sites));
  return out;
}

/// A number for each visible unit, in any shape of rows.
std::vector<float> read_weights(const std::filesystem::path& path, const Layer& visible) {
  DataOptions options;
  options.source = path.string();
  options.kind = ValueKind::kReal;
  const Matrix<float> found = load_data(options).train.real;
  if (found.elements().size() != units_of(visible)) {
    throw DataError(fmt::format("{}: expected {} numbers, one for each visible unit; found {} rows of {}",
                                path.string(), units_of(visible), found.rows(), found.cols()));
  }
  return {found.elements().begin(), found.elements().end()};
}

/// As many rows as there are chains, from the first again if there are fewer.
State start_rows(const SampleRequest& request, const Layer& visible) {
  const Dataset data = load_split_for(visible, request.data, request.split);
  const State rows = first_rows(visible, data, request.count, Key{request.seed});
  State out = make_state(visible, request.count);
  for (std::size_t r = 0; r < out.chains(); ++r) out.set_row(r, rows, r % rows.chains());
  return out;
}

/// Whether all chains are given the same.
bool same_given(const State& x, const Bits& fixed) {
  for (std::size_t r = 1; r < x.chains(); ++r) {
    for (std::size_t i = 0; i < fixed.cols(); ++i) {
      if (fixed.get(0, i) && x.value(r, i) != x.value(0, i)) return false;
    }
  }
  return true;
}

LowestEnergy summary_of(const Lowest& lowest) {
  LowestEnergy out{*std::ranges::min_element(lowest.energies), 0};
  const double rounding = 1e-9 * std::max(1.0, std::abs(out.energy));
  for (const double energy : lowest.energies) out.chains += energy <= out.energy + rounding ? 1 : 0;
  return out;
}

/// Which units of the first layer of the chains stay, if these visible ones do.
Bits mask_for(const Boltzmann& model, const Bits& visible) {
  Bits out(1, units_of(model.units()));
  for_each_set(visible.row(0), [&](std::size_t unit) { out.set(0, unit, true); });
  return out;
}
template <class Model>
Bits mask_for(const Model&, const Bits& visible) {
  return visible;
}

/// Chains with these visible states, and hidden ones drawn.
Chains chains_at(const Rbm& model, State visible, Key key, const Context& context) {
  return start_at(model, std::move(visible), 0, key, context);
}
Chains chains_at(const Boltzmann& model, const State& visible, Key key, const Context& context) {
  Chains out = far_start(model, visible.chains(), key, context);
  for (std::size_t r = 0; r < visible.chains(); ++r) {
    for (std::size_t i = 0; i < visible.units(); ++i) out.layers[0].bits().set(r, i, visible.bits().get(r, i));
  }
  return out;
}
template <EnergyModel Model>
Chains chains_at(const Model&, State visible, Key, const Context&) {
  return {{std::move(visible)}};
}

/// The energy of visible states.
VisibleMarginal energy_of(const Rbm& model) { return {model}; }
template <EnergyModel Model>
const Model& energy_of(const Model& model) {
  return model;
}

/// What is shown of the chains: visible states or, of an RBM, their expected values.
Matrix<float> shown(const Rbm& model, const Chains& chains, bool means, const Context& context) {
  return means ? plain_means(model, chains.layers[Rbm::kHidden], context) : plain_values(chains.layers[Rbm::kVisible]);
}
Matrix<float> shown(const Boltzmann& model, const Chains& chains, bool, const Context&) {
  return plain_values(model.visible_part(chains.layers[0]));
}
template <EnergyModel Model>
Matrix<float> shown(const Model&, const Chains& chains, bool, const Context&) {
  return plain_values(chains.layers[0]);
}

void require_consistent(const SampleRequest& request) {
  require_picture_or_array(request.out);
  require(request.data.source.empty() == request.fixed.empty(),
          "--data gives the rows to complete and --fixed the units of them that stay: give both, or neither");
  require(request.path.empty() || request.sampling.sampler == SamplerKind::kTempering,
          fmt::format("--path gives the levels of tempering, and --sampler is {}; take --sampler tempering",
                      name_of(request.sampling.sampler)));
  const SamplingOptions standard;
  require(request.path.empty() ||
              (request.sampling.temperatures == standard.temperatures && request.sampling.hottest == standard.hottest),
          "--temperatures and --hottest make a ladder of one machine, and --path one of many: leave out either");
  require(!request.means || request.sampling.sampler != SamplerKind::kAnnealing,
          "annealing looks for states of low energy, which have no expected values; leave out --means");
  require(request.watch.empty() || request.sampling.sampler != SamplerKind::kAnnealing,
          "annealing looks for states of low energy, and nothing is watched for mixing; leave out --watch");
}

bool plane(const Layer& units) { return has_forces(units) && units_of(units) == 2; }

/// Whether correlations fall with the lag: by block Gibbs sampling of two layers.
bool bounded_by_gibbs(const Machine& machine, const SamplingOptions& options) {
  const bool gibbs = options.sampler == SamplerKind::kGibbs || options.sampler == SamplerKind::kAuto;
  return gibbs && std::holds_alternative<Rbm>(machine);
}

template <class Model>
SampleResult sample_from(const Model& model, const ModelFile& file, const SampleRequest& request,
                         const Context& context) {
  const Layer visible = visible_of(file.machine);
  const bool completes = !request.fixed.empty();
  const Key key{request.seed};
  SamplingOptions options = request.sampling;
  if (completes) options.fixed = mask_for(model, read_mask(request.fixed, visible));
  options.stations = stations_in(request.path, file.machine);
  const auto started = std::chrono::steady_clock::now();
  Chains chains = completes ? chains_at(model, start_rows(request, visible), key, context)
                            : far_start(model, request.count, key, context);
  const bool alike = same_given(chains.layers[0], options.fixed);
  std::vector<WatchedNumber> numbers = watched_numbers(model);
  if (!request.watch.empty()) numbers.push_back(watched_sum(read_weights(request.watch, visible)));
  MixingWatch watch(std::move(numbers), request.count, options.sweeps, bounded_by_gibbs(file.machine, options));
  const std::unique_ptr<Sampling> sampling = make_sampling(options, model, context);
  const bool watched = alike && !sampling->lowest();
  while (chains.sweep < options.sweeps && !context.stop_requested()) {
    sampling->sweep(chains, key, context);
    if (watched) watch.look(chains, context);
    context.progress({chains.sweep, options.sweeps});
  }
  SampleResult result;
  result.out = request.out;
  result.count = request.count;
  result.accepted = sampling->accepted();
  result.swapped = sampling->swapped();
  result.sweeps = chains.sweep;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  result.stopped = chains.sweep < options.sweeps;
  if (result.stopped) return result;
  if (const Lowest* lowest = sampling->lowest()) {
    result.lowest = summary_of(*lowest);
    chains.layers[0] = lowest->layers[0];
  } else {
    result.mixing = watched ? watch.report() : not_judged("the chains are given different rows, and need not agree");
    if (result.mixing->verdict.mixing == Mixing::kNo) context.warn(sentence(*result.mixing));
  }
  const Matrix<float> values = shown(model, chains, request.means, context);
  if (is_array(request.out)) {
    write_values(request.out, values);
  } else if (plane(visible)) {
    write_png(request.out, picture_of_plane(energy_of(model), values, context));
  } else {
    write_png(request.out, picture_of_rows(drawable(values, visible), shape_from_notes(file.notes, values.cols())));
  }
  return result;
}

}  // namespace

Spec SampleRequest::spec() {
  Spec spec;
  spec.group("").path("model", model, "a machine that `ergodic train` wrote").positional().required();
  spec.group("Sampling").count("count", count, 1, 1000000, "how many samples, each from a chain of its own");
  add_sampling_options(spec, sampling);
  spec.path("path", path,
            "the folder of `ergodic train --trajectory`: levels of tempering are the machines that training met, "
            "instead of temperatures");
  spec.flag("means", means, "show the expected values given the hidden layer instead of drawn states")
      .count("seed", seed, 0, ~std::uint64_t{0}, "names the random numbers")
      .path("watch", watch,
            "rows of numbers, one for each visible unit (npy, csv): whether the sum of the units, each times its "
            "number, has mixed is judged beside the energy and the activity");
  spec.group("Completion")
      .text("data", data.source, "rows at which the chains start, as for `ergodic train`; with --fixed", "DATA")
      .incidental();
  add_split_option(spec, split);
  spec.path("fixed", fixed,
            "a mask of one 0 or 1 for each visible unit (npy, csv, idx): those with a 1 keep the values of their row, "
            "and the others are sampled given them");
  spec.group("Output")
      .path("out", out,
            "a picture sheet (.png; of two real units the landscape of their energy beside points) or an "
            "array (.npy)")
      .required();
  return spec;
}

SampleResult draw_samples(const SampleRequest& request, const Context& context) {
  require_consistent(request);
  const ModelFile file = load_model(request.model);
  require(
      !request.means || std::holds_alternative<Rbm>(file.machine),
      fmt::format("--means shows expected values given the hidden layer of a restricted Boltzmann machine, and this "
                  "is a {}; leave it out",
                  kind_of(file.machine)));
  return std::visit([&](const auto& machine) { return sample_from(machine, file, request, context); }, file.machine);
}

Spec ReconstructRequest::spec() {
  Spec spec;
  spec.group("").path("model", model, "a machine that `ergodic train` wrote").positional().required();
  add_data_options(spec, data);
  add_split_option(spec, split);
  spec.group("Reconstruction")
      .count("count", count, 1, 100000000, "how many rows, from the first")
      .count("seed", seed, 0, ~std::uint64_t{0}, "names the random numbers");
  spec.group("Output")
      .path("out", out, "a picture of rows beside their reconstructions (.png), or the reconstructions (.npy)")
      .required();
  return spec;
}

ReconstructResult draw_reconstructions(const ReconstructRequest& request, const Context& context) {
  require_picture_or_array(request.out);
  const ModelFile file = load_model(request.model);
  const Rbm& model = rbm_in(file, "reconstruct");
  const Layer& visible = model.visible();
  const Dataset data = load_split_for(visible, request.data, request.split);
  const Key key{request.seed};
  const State rows = first_rows(visible, data, request.count, key);
  const Matrix<float> made = reconstructions(model, rows, key, context);
  if (is_array(request.out)) {
    write_values(request.out, made);
  } else {
    write_png(request.out, picture_of_pairs(visible, rows, made, data.shape));
  }
  return {rows.real(), request.out, rows.chains(), mean_difference(visible, rows, made)};
}

std::string to_json(const SampleResult& result) {
  nlohmann::ordered_json out{
      {"out", result.out.string()},
      {"count", result.count},
      {"sweeps", result.sweeps},
      {"seconds", result.seconds},
      {"stopped", result.stopped},
      {"mixing", result.mixing ? nlohmann::ordered_json::parse(to_json(*result.mixing)) : nlohmann::ordered_json()}};
  if (result.accepted) out["accepted"] = *result.accepted;
  if (!result.swapped.empty()) out["swapped"] = result.swapped;
  if (result.lowest) {
    out["lowest_energy"] = result.lowest->energy;
    out["lowest_chains"] = result.lowest->chains;
  }
  return out.dump(2);
}

std::string to_text(const SampleResult& result) {
  if (result.stopped) return "";
  std::string out;
  if (result.accepted) out += fmt::format("accepted {:.1f} % of the proposals\n", 100.0 * *result.accepted);
  out += swap_text(result.swapped);
  if (result.lowest) {
    out += fmt::format("the lowest energy is {:.6g}, found by {} of {} chains\n", result.lowest->energy,
                       result.lowest->chains, result.count);
  }
  if (result.mixing) out += to_text(*result.mixing);
  return out;
}

std::string to_json(const ReconstructResult& result) {
  const nlohmann::ordered_json out{
      {"out", result.out.string()}, {"count", result.count}, {"reconstruction_error", result.error}};
  return out.dump(2);
}

}  // namespace ergodic
