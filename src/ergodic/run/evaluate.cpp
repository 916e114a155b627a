#include "ergodic/run/evaluate.hpp"

#include "ergodic/estimator/independent.hpp"
#include "ergodic/machine/rows.hpp"

namespace ergodic {
namespace {

/// The free energies and, if they are exact, the pseudo-likelihood; what is left of the budget. Nothing if stopped.
std::optional<Budget> add_energies(const Machine& machine, const State& rows, const Budget& budget, Evaluation& out,
                                   Key key, const Context& context) {
  context.stage({"free energies", "rows", 1, 2});
  if (auto clamped = machine.clamped_rows(rows, key)) {
    if (const auto found = spend_on_rows(budget, *clamped, context)) {
      for (const std::string& doubt : doubts_about(*found)) context.warn(doubt + " (--budget)");
      out.set_clamped(*found);
    }
    return after_rows(budget);
  }
  const auto energies = machine.free_energies(rows, context);
  if (!energies) return std::nullopt;
  out.set_free_energies(*energies);
  if (const auto pseudo = machine.pseudo_log_likelihoods(rows, key, context)) out.set_pseudo_log_likelihoods(*pseudo);
  return budget;
}

}  // namespace

EvaluateResult evaluate(const Machine& machine, const Dataset& data, const EvaluateOptions& options, Key key,
                        const Context& context) {
  require_fit(machine.visible(), data);
  require_complete(data);
  const State rows = all_rows(machine.visible(), data, key);
  EvaluateResult out;
  out.rows = data.rows();
  out.means_of_training = options.training != nullptr;
  out.independent = independent_log_likelihood(machine.visible(), options.training ? *options.training : data, rows);
  const std::optional<Budget> left = add_energies(machine, rows, options.budget, out.evaluation, key, context);
  context.stage({"log Z", "steps", 2, 2});
  if (left) {
    if (const auto exact = machine.exact_log_z(context)) out.evaluation.set_log_z(*exact);
  }
  if (!out.evaluation.log_z && !context.stop_requested()) {
    const std::unique_ptr<Path> path = machine.path(rows, options.stations, context);
    if (const auto annealed = spend(*left, *path, rows, key, context)) {
      for (const std::string& doubt : doubts_about(annealed->found)) context.warn(doubt + " (--budget)");
      out.evaluation.set_annealed(annealed->found);
      out.partial = annealed->stopped;
    }
  }
  out.stopped = context.stop_requested();
  if (!out.evaluation.log_likelihood) out.why_no_log_z = "stopped before the end";
  return out;
}

}  // namespace ergodic
