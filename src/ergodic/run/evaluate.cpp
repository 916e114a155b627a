#include "ergodic/run/evaluate.hpp"

#include <algorithm>

#include "ergodic/core/clock.hpp"
#include "ergodic/core/part_of_whole.hpp"
#include "ergodic/estimator/independent.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/run/finite.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kOwnChains = 100;
constexpr std::uint64_t kOwnSweeps = 200, kFillingSweeps = 20;
constexpr std::size_t kMostBounded = 1000, kFewestBounded = 100, kTemperaturesOfARow = 5;  // rows

/// Of rows with gaps, each summed over what is missing; nothing if stopped.
std::optional<FreeEnergy> free_energy_of_gaps(const Machine& machine, const OpenRows& rows, Key key,
                                              const Context& context) {
  const auto sums = open_log_sums(machine, rows, kRowTemperatures, key, context);
  if (!sums) return std::nullopt;
  return mean_free_energy(*sums);
}
constexpr double kShareOfEnergies = 0.02;  // of the work, where free energies are summed

/// The free energies and, if they are exact, the pseudo-likelihood; what is left of the budget. Nothing if stopped.
std::optional<Budget> add_energies(const Machine& machine, const OpenRows& open, const Budget& budget, Evaluation& out,
                                   Key key, const Context& context) {
  context.stage({"free energies", "rows"});
  const State& rows = open.rows;
  if (!open.complete()) {
    const auto found = free_energy_of_gaps(machine, open, key, context);
    if (!found) return std::nullopt;
    out.set_free_energy(*found);
    return budget;
  }
  if (auto clamped = machine.clamped_rows(rows, key)) {
    if (const auto found = spend_on_rows(budget, *clamped, context)) {
      for (const std::string& doubt : doubts_about(*found)) context.warn(doubt + " (--budget)");
      out.set_clamped(*found);
    }
    return after_rows(budget);
  }
  const auto energies = machine.free_energies(rows, context);
  if (!energies) {
    const auto bounds = budgeted_bounds(machine, rows, budget, key, context);
    if (!bounds) return std::nullopt;
    out.bound_draws = kRowDraws;
    out.set_free_energy(mean_free_energy(*bounds));
    return after_rows(budget);
  }
  out.set_free_energies(*energies);
  if (const auto pseudo = machine.pseudo_log_likelihoods(rows, key, context)) out.set_pseudo_log_likelihoods(*pseudo);
  return budget;
}

}  // namespace

std::optional<std::vector<Estimate>> budgeted_bounds(const Machine& machine, const State& rows, const Budget& budget,
                                                     Key key, const Context& context) {
  const double ends = steady_seconds() + share_of_rows(budget) * budget.seconds;
  const auto more = [&](std::size_t done) { return budget.temperatures > 0 || done == 0 || steady_seconds() < ends; };
  const std::size_t worth = budget.temperatures / kTemperaturesOfARow;
  const std::size_t most = budget.temperatures > 0 ? std::clamp(worth, kFewestBounded, kMostBounded) : kMostBounded;
  return row_bounds(machine, random_rows(rows, most, key), kRowDraws, key, more, context);
}

namespace {

void require_finite(const Evaluation& found) {
  if (found.free_energy) ergodic::require_finite(found.free_energy->mean, "the mean free energy");
  if (found.pseudo_log_likelihood) ergodic::require_finite(*found.pseudo_log_likelihood, "the pseudo-log-likelihood");
  if (found.log_z) ergodic::require_finite(*found.log_z, "log Z");
  if (found.log_likelihood) ergodic::require_finite(*found.log_likelihood, "the log-likelihood");
}

}  // namespace

State own_rows(const Machine& machine, Key key, const Context& context) {
  Chains chains = machine.start(kOwnChains, key, context);
  const auto sampling = machine.sampling({}, context);
  while (chains.sweep < kOwnSweeps && !context.stop_requested()) sampling->sweep(chains, key, context);
  return machine.visible_of(chains);
}

State completed_rows(const Machine& machine, const OpenRows& rows, Key key, const Context& context) {
  if (rows.complete()) return rows.rows;
  const auto found = draw_open(machine, rows, {kFillingSweeps}, key, {context.threads});
  return machine.visible_of(found->chains);
}

FoundLogZ find_log_z(const Machine& machine, const State& rows, const Budget& budget,
                     const std::vector<Parameters>& stations, Key key, const Context& context) {
  FoundLogZ out;
  out.log_z = machine.exact_log_z(context);
  if (out.log_z || context.stop_requested()) return out;
  const std::unique_ptr<Path> path = machine.path(rows, stations, context);
  const auto annealed = spend(budget, *path, rows, key, context);
  if (!annealed) return out;
  for (const std::string& doubt : doubts_about(annealed->found)) context.warn(doubt + " (--budget)");
  out.log_z = annealed->found.log_z;
  out.annealed = annealed->found;
  out.partial = annealed->stopped;
  return out;
}

EvaluateResult evaluate(const Machine& machine, const Dataset& data, const EvaluateOptions& options, Key key,
                        const Context& context) {
  require_fit(machine.visible(), data);
  const OpenRows rows = open_rows_of(machine.visible(), data, key);
  EvaluateResult out;
  out.rows = data.rows();
  out.means_of_training = options.training != nullptr;
  out.independent =
      independent_log_likelihood(machine.visible(), options.training ? *options.training : data, rows.rows, rows.known);
  const bool sampled =
      rows.complete() && (machine.clamped_rows(rows.rows, key) || bounds_rows(machine, rows.rows, key));
  const double energies = sampled ? share_of_rows(options.budget) : kShareOfEnergies;
  PartOfWhole first(context, 0.0, energies), second(context, energies, 1.0);
  const std::optional<Budget> left = add_energies(machine, rows, options.budget, out.evaluation, key, first.context());
  first.done(1.0);
  const Context part = second.context();
  part.stage({"log Z", "steps"});
  if (left) {
    const FoundLogZ found =
        find_log_z(machine, completed_rows(machine, rows, key, context), *left, options.stations, key, part);
    out.partial = found.partial;
    if (found.annealed) {
      out.evaluation.set_annealed(*found.annealed);
    } else if (found.log_z) {
      out.evaluation.set_log_z(*found.log_z);
    }
  }
  require_finite(out.evaluation);
  out.stopped = context.stop_requested();
  if (!out.evaluation.log_likelihood) out.why_no_log_z = "stopped before the end";
  return out;
}

EvaluateResult evaluate(const Machine& machine, const EvaluateOptions& options, Key key, const Context& context) {
  EvaluateResult out;
  context.stage({"log Z", "steps"});
  const FoundLogZ found =
      find_log_z(machine, own_rows(machine, key, context), options.budget, options.stations, key, context);
  out.evaluation.log_z = found.log_z;
  out.evaluation.annealed = found.annealed;
  require_finite(out.evaluation);
  out.partial = found.partial;
  out.stopped = context.stop_requested();
  if (!found.log_z) out.why_no_log_z = "stopped before the end";
  return out;
}

}  // namespace ergodic
