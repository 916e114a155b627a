#include "ergodic/estimator/clamped_rows.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "ergodic/core/permutation.hpp"
#include "ergodic/estimator/rbm_path.hpp"
#include "ergodic/estimator/station_path.hpp"
#include "ergodic/model/conditional.hpp"
#include "ergodic/model/hidden_given_visible.hpp"
#include "ergodic/sampler/gibbs.hpp"

namespace ergodic {
namespace {

constexpr std::uint8_t kRowStream = 0, kChainStream = 1;     // which row is next; what a row draws
constexpr std::size_t kSweepsBefore = 32, kKeptSweeps = 16;  // at a row; the last of them say where its path begins
constexpr std::size_t kBoundedAtATime = 500, kMeanFieldSteps = 10;  // rows, and steps to their bounds

/// What a sweep costs. A coupling that is read from a matrix costs about a tenth of one in a list.
double cost_of(const Boltzmann& machine) {
  const auto units = static_cast<double>(machine.graph().units()), edges = static_cast<double>(machine.graph().edges());
  return units + (machine.graph().dense() ? 0.2 : 2.0) * edges;
}

/// States of a machine, all chains of some sweeps. The last come first.
template <GibbsModel Model>
State states_of(const Model& machine, std::size_t chains, Key key) {
  Chains now = independent_start(machine, chains, key, {});
  State out = make_state(first_layer(machine), chains * kKeptSweeps);
  for (std::size_t left = kSweepsBefore; left-- > 0;) {
    step(Gibbs{}, machine, now, key, {});
    if (left >= kKeptSweeps) continue;
    for (std::size_t c = 0; c < chains; ++c) out.set_row(left * chains + c, now.layers[0], c);
  }
  return out;
}

AnnealedSide shifted(AnnealedSide side, double by) {
  side.value += by;
  return side;
}

AnnealedLogZ shifted(AnnealedLogZ found, double by) {
  found.forward = shifted(found.forward, by);
  found.backward = shifted(found.backward, by);
  found.log_z.value += by;
  return found;
}

/// log Z of what a row leaves open, minus the energy of what it does not.
template <GibbsModel Model>
AnnealedLogZ annealed(const Model& open, double energy, std::size_t temperatures, Key key) {
  const State states = states_of(open, ClampedRows::kChains, key);
  const std::unique_ptr<Path> path = path_to(open, states, {});
  Annealer annealer(*path, states, ClampedRows::kChains, key, {});
  const AnnealedLogZ found = *annealer.round(temperatures, {});
  return both_ways(shifted(found.forward, -energy), shifted(found.backward, -energy), found.chains, found.temperatures);
}

/// The hidden units of a machine on a graph at any of these rows.
struct GraphRows {
  const Boltzmann& machine;
  Boltzmann hidden;
  State rows;

  AnnealedLogZ operator()(std::size_t row, std::size_t temperatures, Key key) const {
    const HiddenFields given(machine, rows.rows(row, 1), {});
    Boltzmann open = hidden;
    open.update(
        [&](Parameters& parameters) {
          std::ranges::transform(given.fields.row(0), parameters["bias"].begin(),
                                 [](double v) { return static_cast<float>(v); });
        },
        {});
    return annealed(open, given.energies[0], temperatures, key);
  }
};

/// The hidden units of a deep machine at any of these rows, which have room for them.
struct DeepRows {
  const DeepBoltzmann& machine;
  State rows;
  Bits known;

  AnnealedLogZ operator()(std::size_t row, std::size_t temperatures, Key key) const {
    const Conditional<Rbm> given = conditional(machine, rows, known, row);
    return annealed(given.open, given.energy, temperatures, key);
  }
};

/// By mean field (model/deep_boltzmann.hpp).
struct DeepBounds {
  const DeepBoltzmann& machine;
  State rows;

  std::vector<double> operator()(const Context& context) const {
    std::vector<double> out;
    for (std::size_t first = 0; first < rows.chains(); first += kBoundedAtATime) {
      const std::size_t count = std::min(kBoundedAtATime, rows.chains() - first);
      const Matrix<float> values = moments_of(rows.rows(first, count)).means;
      const auto hidden = mean_field(machine, values, kMeanFieldSteps, context);
      std::ranges::copy(mean_field_bounds(machine, values, hidden, context), std::back_inserter(out));
    }
    return out;
  }
};

Bits all_on(std::size_t rows, std::size_t units) {
  Bits out(rows, units);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < units; ++i) out.set(r, i, true);
  }
  return out;
}

double share_of_hidden(const DeepBoltzmann& machine) {
  const auto units = static_cast<double>(units_of(machine.visible()));
  return (units - static_cast<double>(machine.sizes()[0])) / units;
}

/// The mean over rows of what one direction says of each.
template <class SideOf>
AnnealedSide mean_side(std::span<const AnnealedLogZ> rows, const SideOf& side_of) {
  AnnealedSide out;
  double squares = 0.0;
  for (const AnnealedLogZ& row : rows) {
    const AnnealedSide& side = side_of(row);
    out.value += side.value;
    out.effective_chains += side.effective_chains;
    out.variance += side.variance;
    squares += side.standard_error * side.standard_error;
  }
  const auto count = static_cast<double>(rows.size());
  for (double* sum : {&out.value, &out.effective_chains, &out.variance}) *sum /= count;
  out.standard_error = std::sqrt(squares) / count;
  return out;
}

}  // namespace

std::vector<std::string> doubts_about(const ClampedLogZ& found) {
  std::vector<std::string> out;
  AnnealedLogZ mean = found.mean;
  if (std::exchange(mean.contradiction, false)) {
    out.emplace_back(
        "the bounds of log Z given the rows contradict each other, so the backward chains were no draws of the hidden "
        "units: these have states that sampling at a row does not find; the likelihood may lie above its bracket");
  }
  for (const std::string& doubt : doubts_about(mean)) out.push_back("given the rows, " + doubt);
  return out;
}

std::size_t ClampedRows::sweeps_of_row(std::size_t temperatures) {
  return kSweepsBefore + Annealer::sweeps_of_round(temperatures);
}

ClampedRows::ClampedRows(std::size_t rows, double cost, AnnealRow anneal_row, BoundRows bound_rows, Key key)
    : anneal_row_(std::move(anneal_row)),
      bound_rows_(std::move(bound_rows)),
      cost_(cost),
      key_(key),
      order_(permutation(rows, key.at(Purpose::kClamped, 0, kRowStream))) {}

ClampedRows::ClampedRows(const Boltzmann& machine, State rows, Key key)
    : ClampedRows(rows.chains(), cost_of(hidden_machine(machine)) / cost_of(machine),
                  GraphRows{machine, hidden_machine(machine), rows}, {}, key) {
  require_rows_of(machine, rows);
}

ClampedRows::ClampedRows(const DeepBoltzmann& machine, State rows, Key key)
    : ClampedRows(rows.chains(), share_of_hidden(machine),
                  DeepRows{machine, machine.with_room(rows), machine.mask_of(all_on(rows.chains(), rows.units()))},
                  DeepBounds{machine, rows}, key) {}

bool ClampedRows::anneal(std::size_t rows, std::size_t temperatures, const Context& context) {
  const std::size_t last = std::min(rows_done() + rows, order_.size());
  const std::size_t at_a_time = context.thread_count();
  while (rows_done() < last) {
    if (context.stop_requested()) return false;
    const std::size_t first = rows_done(), count = std::min(at_a_time, last - first);
    log_z_.resize(first + count);
    // A row draws its own random numbers, so neither the order nor the threads matter.
    context.for_blocks(count, 1, [&](std::size_t k, std::size_t) {
      const std::size_t row = order_[first + k];
      const Words words = key_.at(Purpose::kClamped, row, kChainStream).words(0, 0);
      log_z_[first + k] = anneal_row_(row, temperatures, Key{words[0] | (std::uint64_t{words[1]} << 32)});
    });
    context.progress({rows_done(), last});
  }
  return true;
}

void ClampedRows::bound_all(const Context& context) {
  if (bound_rows_ && rows_done() < rows()) bounds_ = bound_rows_(context);
}

ClampedLogZ ClampedRows::found() const {
  assert(!log_z_.empty());
  std::vector<AnnealedLogZ> each = log_z_;
  const Mean bound = bounds_.empty() ? Mean{} : mean_with_error(bounds_);
  for (std::size_t k = 0; k < each.size() && !bounds_.empty(); ++k) {
    each[k] = shifted(each[k], bound.value - bounds_[order_[k]]);
  }
  const AnnealedSide forward = mean_side(each, [](const AnnealedLogZ&row) { return row.forward; }),
                     backward = mean_side(each, [](const AnnealedLogZ&row) { return row.backward; });
  std::vector<double> values;
  for (const AnnealedLogZ& row : each) values.push_back(row.log_z.value);
  return {both_ways(forward, backward, kChains, each.front().temperatures),
          std::hypot(mean_with_error(values).standard_error, bound.standard_error), values.size()};
}

}  // namespace ergodic
