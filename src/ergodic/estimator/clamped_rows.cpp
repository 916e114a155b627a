#include "ergodic/estimator/clamped_rows.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "ergodic/core/permutation.hpp"
#include "ergodic/estimator/station_path.hpp"
#include "ergodic/model/hidden_given_visible.hpp"
#include "ergodic/sampler/gibbs.hpp"

namespace ergodic {
namespace {

constexpr std::uint8_t kRowStream = 0, kChainStream = 1;     // which row is next; what a row draws
constexpr std::size_t kSweepsBefore = 32, kKeptSweeps = 16;  // at a row; the last of them say where its path begins

/// States of a machine, all chains of some sweeps. The last come first.
State states_of(const Boltzmann& machine, std::size_t chains, Key key) {
  Chains now = independent_start(machine, chains, key, {});
  State out = machine.make_state(chains * kKeptSweeps);
  for (std::size_t left = kSweepsBefore; left-- > 0;) {
    step(Gibbs{}, machine, now, key, {});
    if (left >= kKeptSweeps) continue;
    for (std::size_t c = 0; c < chains; ++c) out.set_row(left * chains + c, now.layers[0], c);
  }
  return out;
}

AnnealedSide shifted(AnnealedSide side, double by) {
  side.value += by;
  side.bound += by;
  return side;
}

/// The mean over rows of what one direction says of each.
template <class SideOf>
AnnealedSide mean_side(std::span<const AnnealedLogZ> rows, const SideOf& side_of) {
  AnnealedSide out;
  double squares = 0.0, bound_squares = 0.0;
  for (const AnnealedLogZ& row : rows) {
    const AnnealedSide& side = side_of(row);
    out.value += side.value;
    out.effective_chains += side.effective_chains;
    out.bound += side.bound;
    out.variance += side.variance;
    squares += side.standard_error * side.standard_error;
    bound_squares += side.bound_error * side.bound_error;
  }
  const auto count = static_cast<double>(rows.size());
  for (double* sum : {&out.value, &out.effective_chains, &out.bound, &out.variance}) *sum /= count;
  out.standard_error = std::sqrt(squares) / count;
  out.bound_error = std::sqrt(bound_squares) / count;
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

ClampedRows::ClampedRows(const Boltzmann& machine, State rows, Key key)
    : machine_(machine),
      hidden_(hidden_machine(machine)),
      rows_(std::move(rows)),
      key_(key),
      order_(permutation(rows_.chains(), key.at(Purpose::kClamped, 0, kRowStream))) {
  require_rows_of(machine, rows_);
}

bool ClampedRows::anneal(std::size_t rows, std::size_t temperatures, const Context& context) {
  const std::size_t last = std::min(rows_done() + rows, order_.size());
  const std::size_t at_a_time = context.thread_count();
  while (rows_done() < last) {
    if (context.stop_requested()) return false;
    anneal_next(std::min(at_a_time, last - rows_done()), temperatures, context);
    context.progress({rows_done(), last});
  }
  return true;
}

void ClampedRows::anneal_next(std::size_t count, std::size_t temperatures, const Context& context) {
  const std::size_t first = rows_done();
  State visible = rows_.rows(0, count);
  for (std::size_t r = 0; r < count; ++r) visible.set_row(r, rows_, order_[first + r]);
  const HiddenFields given(machine_, visible, context);
  log_z_.resize(first + count);
  context.for_blocks(count, 1, [&](std::size_t r, std::size_t) {
    const AnnealedLogZ found = annealed(order_[first + r], given.fields.row(r), temperatures);
    log_z_[first + r] = both_ways(shifted(found.forward, -given.energies[r]),
                                  shifted(found.backward, -given.energies[r]), found.chains, found.temperatures);
  });
}

/// A row draws its own random numbers, so neither the order nor the threads matter.
AnnealedLogZ ClampedRows::annealed(std::size_t row, std::span<const double> fields, std::size_t temperatures) const {
  const Words words = key_.at(Purpose::kClamped, row, kChainStream).words(0, 0);
  const Key key{words[0] | (std::uint64_t{words[1]} << 32)};
  Boltzmann machine = hidden_;
  machine.update(
      [&](Parameters& parameters) {
        std::ranges::transform(fields, parameters["bias"].begin(), [](double v) { return static_cast<float>(v); });
      },
      {});
  const State states = states_of(machine, kChains, key);
  const std::unique_ptr<Path> path = path_to(machine, states, {});
  Annealer annealer(*path, states, kChains, key, {});
  return *annealer.round(temperatures, {});
}

ClampedLogZ ClampedRows::found() const {
  assert(!log_z_.empty());
  const AnnealedSide forward = mean_side(log_z_, [](const AnnealedLogZ&row) { return row.forward; }),
                     backward = mean_side(log_z_, [](const AnnealedLogZ&row) { return row.backward; });
  std::vector<double> values;
  for (const AnnealedLogZ& row : log_z_) values.push_back(row.log_z.value);
  return {both_ways(forward, backward, kChains, log_z_.front().temperatures), mean_with_error(values).standard_error,
          values.size()};
}

}  // namespace ergodic
