#include "ergodic/run/quality.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ergodic/core/error.hpp"
#include "ergodic/core/part_of_whole.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/run/finite.hpp"
#include "ergodic/run/open_rows.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kTemperatures = 50;  // where hidden units are annealed
constexpr double kShareOfSampling = 0.8;   // of the work, about

/// Free energies; if hidden units are too many to sum over, as annealing or draws of them find these, with the same
/// errors for data and samples. Nothing if stopped.
std::optional<std::vector<double>> energies_of(const Machine& machine, const State& x, Key key,
                                               const Context& context) {
  std::optional<ClampedRows> rows = machine.clamped_rows(x, key);
  if (!rows) {
    if (auto energies = machine.free_energies(x, context)) return energies;
    const auto bounds = row_bounds(machine, x, kRowDraws, key, {}, context);
    if (!bounds) return std::nullopt;
    std::vector<double> out;
    for (const Estimate& bound : *bounds) out.push_back(-bound.value);
    return out;
  }
  if (!rows->anneal(rows->rows(), kTemperatures, context)) return std::nullopt;
  std::vector<double> out;
  for (const AnnealedLogZ& row : rows->each()) out.push_back(-row.log_z.value);
  return out;
}

}  // namespace

Mean Quality::free_energy_gap() const {
  return {data_energy.value - training_energy->value,
          std::hypot(data_energy.standard_error, training_energy->standard_error)};
}

void require_enough_rows(const Dataset& data) {
  if (data.rows() >= kFewestNeighbours) return;
  throw DataError(fmt::format("--quality needs {} rows of data at least, found {}", kFewestNeighbours, data.rows()));
}

Quality quality_of(const Machine& machine, std::span<const Parameters> stations, const QualityRows& judges,
                   const ModelSamplesOptions& options, Key key, const Context& whole) {
  const auto& [data, training] = judges;
  Quality stopped;
  stopped.stopped = true;
  const std::size_t rows = std::min<std::size_t>(data.rows(), options.count);
  const State all = all_rows(machine.visible(), data, key);
  const std::vector<UnitPair> pairs = pairs_of(machine.visible());
  PartOfWhole first(whole, 0.0, kShareOfSampling), second(whole, kShareOfSampling, 1.0);
  first.stage({"sampling", "sweeps"});
  const std::optional<ModelSamples> own = draw_model_samples(machine, stations, options, pairs, key, first.context());
  if (!own) return stopped;
  const Context context = second.context();
  context.stage({"comparing", "rows"});
  const State chosen = random_rows(all, rows, key), samples = own->last.rows(0, rows);
  const auto neighbours = neighbour_test(chosen, samples, context);
  const auto of_data = energies_of(machine, chosen, key, context);
  const auto of_samples = energies_of(machine, samples, key, context);
  if (!neighbours || !of_data || !of_samples) return stopped;
  const Mean data_energy = mean_with_error(*of_data), sample_energy = mean_with_error(*of_samples);
  require_finite(data_energy.value, "the mean energy of the data");
  require_finite(sample_energy.value, "the mean energy of the samples");
  std::optional<Mean> of_training;
  if (training) {
    const State known = all_rows(machine.visible(), *training, key);
    const auto found = energies_of(machine, random_rows(known, rows, key), key, context);
    if (!found) return stopped;
    of_training = mean_with_error(*found);
    require_finite(of_training->value, "the mean energy of the training rows");
  }
  return {false,        rows,          *neighbours,
          data_energy,  sample_energy, distribution_gap(*of_data, *of_samples),
          of_training,  own->samples,  compare(own->groups, sums_of(all, data.weights, pairs, context)),
          own->swapped, own->mixing};
}

}  // namespace ergodic
