#include "ergodic/run/quality.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <variant>
#include <vector>

#include "ergodic/core/error.hpp"
#include "ergodic/core/permutation.hpp"
#include "ergodic/estimator/likelihood.hpp"
#include "ergodic/model/elimination.hpp"
#include "ergodic/run/compare.hpp"
#include "ergodic/run/data_request.hpp"

namespace ergodic {
namespace {

constexpr std::uint8_t kRowStream = 2;  // of splitting: the others set rows apart and choose pairs

constexpr std::size_t kTemperatures = 50;  // where hidden units are annealed

/// So many random rows of a state.
State chosen_rows(const State& all, std::size_t count, Key key) {
  if (count == all.chains()) return all;
  const std::vector<std::uint32_t> order = permutation(all.chains(), key.at(Purpose::kSplit, 0, kRowStream));
  State out = all.rows(0, count);
  for (std::size_t r = 0; r < count; ++r) out.set_row(r, all, order[r]);
  return out;
}

/// Of hidden units that are too many to sum over, as annealing finds them: with the same errors for data and samples.
std::optional<std::vector<double>> energies_of(const Boltzmann& machine, const State& x, Key key,
                                               const Context& context) {
  if (why_no_exact_free_energy(machine).empty()) return free_energies(machine, x, context);
  ClampedRows rows(machine, x, key);
  if (!rows.anneal(rows.rows(), kTemperatures, context)) return std::nullopt;
  std::vector<double> out;
  for (const AnnealedLogZ& row : rows.each()) out.push_back(-row.log_z.value);
  return out;
}
template <class Model>
std::optional<std::vector<double>> energies_of(const Model& machine, const State& x, Key, const Context& context) {
  return free_energies(machine, x, context);
}

nlohmann::ordered_json json_of(const Mean& mean) {
  return {{"value", mean.value}, {"standard_error", mean.standard_error}};
}

std::string share_row(const char* name, const Mean& share) {
  return fmt::format("{:<22} {:.3f} +- {:.3f}\n", name, share.value, share.standard_error);
}

std::string energy_row(const char* name, const Mean& energy) {
  return fmt::format("{:<22} {:.4f} +- {:.2g}\n", name, energy.value, energy.standard_error);
}

/// Of the data over the training rows.
Mean free_energy_gap(const Quality& quality) {
  const Mean& known = *quality.training_energy;
  return {quality.data_energy.value - known.value,
          std::hypot(quality.data_energy.standard_error, known.standard_error)};
}

std::string gap_rows(const Quality& quality) {
  if (!quality.training_energy) return "";
  const Mean gap = free_energy_gap(quality);
  return energy_row("  training rows", *quality.training_energy) +
         fmt::format("{:<22} {:.4f} +- {:.2g} (data over training rows; 0 if nothing was learned by heart)\n",
                     "  free-energy gap", gap.value, gap.standard_error);
}

}  // namespace

void require_enough_rows(const Dataset& data) {
  if (data.rows() >= kFewestNeighbours) return;
  throw DataError(fmt::format("--quality needs {} rows of data at least, found {}", kFewestNeighbours, data.rows()));
}

std::optional<Quality> quality_of(const Machine& machine, std::span<const Parameters> stations, const Dataset& data,
                                  const std::optional<Dataset>& training, const OwnSamplesOptions& options, Key key,
                                  const Context& context) {
  const std::size_t rows = std::min<std::size_t>(data.rows(), options.count);
  const Layer visible = visible_of(machine);
  const State all = first_rows(visible, data, data.rows(), key);
  const std::vector<UnitPair> pairs = pairs_of(visible);
  const std::optional<OwnSamples> own = draw_own_samples(machine, stations, options, pairs, key, context);
  if (!own) return std::nullopt;
  const State chosen = chosen_rows(all, rows, key), samples = own->last.rows(0, rows);
  const auto neighbours = neighbour_test(chosen, samples, context);
  const auto energies = [&](const State& x) {
    return std::visit([&](const auto& model) { return energies_of(model, x, key, context); }, machine);
  };
  const auto of_data = energies(chosen), of_samples = energies(samples);
  if (!neighbours || !of_data || !of_samples) return std::nullopt;
  std::optional<Mean> of_training;
  if (training) {
    const State known = first_rows(visible, *training, training->rows(), key);
    const auto found = energies(chosen_rows(known, std::min(rows, known.chains()), key));
    if (!found) return std::nullopt;
    of_training = mean_with_error(*found);
  }
  return Quality{rows,
                 *neighbours,
                 mean_with_error(*of_data),
                 mean_with_error(*of_samples),
                 distribution_gap(*of_data, *of_samples),
                 of_training,
                 own->samples,
                 compare(own->groups, sums_of(all, data.weights, pairs, context)),
                 own->swapped,
                 own->mixing};
}

std::string to_json(const Quality& quality) {
  nlohmann::ordered_json out{{"rows", quality.rows}, {"samples", quality.samples}, {"mixed", nullptr}};
  if (quality.mixing.verdict.mixing != Mixing::kUnknown) out["mixed"] = quality.mixing.verdict.mixing == Mixing::kYes;
  if (!quality.swapped.empty()) out["swapped"] = quality.swapped;
  out["nearest_neighbours"] = {{"data", json_of(quality.neighbours.data)},
                               {"samples", json_of(quality.neighbours.samples)}};
  out["energy"] = {{"data", json_of(quality.data_energy)},
                   {"samples", json_of(quality.sample_energy)},
                   {"distance", quality.energy_gap.distance},
                   {"critical_distance", quality.energy_gap.critical}};
  if (quality.training_energy) {
    out["energy"]["training"] = json_of(*quality.training_energy);
    out["energy"]["gap"] = json_of(free_energy_gap(quality));
  }
  out.update(nlohmann::ordered_json::parse(to_json(quality.moments)));
  return out.dump();
}

std::string to_text(const Quality& quality) {
  return fmt::format(
             "\n{} rows of data against {} samples; nearer to their own kind (same law: 0.5, far: 1, copies: 0)\n",
             quality.rows, quality.rows) +
         share_row("  data", quality.neighbours.data) + share_row("  samples", quality.neighbours.samples) +
         "energies\n" + energy_row("  data", quality.data_energy) + energy_row("  samples", quality.sample_energy) +
         fmt::format("{:<22} {:.3f} ({} {:.3f}, which the same law exceeds in 1 % of cases)\n", "  distance (KS)",
                     quality.energy_gap.distance,
                     quality.energy_gap.distance > quality.energy_gap.critical ? "above" : "not above",
                     quality.energy_gap.critical) +
         gap_rows(quality) + fmt::format("\nall rows against {} samples\n", quality.samples) + to_text(quality.moments);
}

}  // namespace ergodic
