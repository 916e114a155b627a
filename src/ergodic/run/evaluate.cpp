#include "ergodic/run/evaluate.hpp"

#include "ergodic/core/part_of_whole.hpp"
#include "ergodic/machine/rows.hpp"

namespace ergodic {
namespace {

constexpr double kShareOfEnergies = 0.02;  // of the work, where free energies are summed

/// The free energies and, if they are exact, the pseudo-likelihood; what is left of the budget. Nothing if stopped.
std::optional<Budget> add_energies(const Machine& machine, const State& rows, const Budget& budget, Evaluation& out,
                                   Key key, const Context& context) {
  context.stage({"free energies", "rows"});
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
  EvaluateResult out{data.rows(), {}, "", false, false};
  const double energies = machine.clamped_rows(rows, key) ? share_of_rows(options.budget) : kShareOfEnergies;
  PartOfWhole first(context, 0.0, energies), second(context, energies, 1.0);
  const std::optional<Budget> left = add_energies(machine, rows, options.budget, out.evaluation, key, first.context());
  first.done(1.0);
  const Context part = second.context();
  part.stage({"log Z", "steps"});
  if (left) {
    if (const auto exact = machine.exact_log_z(part)) out.evaluation.set_log_z(*exact);
  }
  if (!out.evaluation.log_z && !context.stop_requested()) {
    const std::unique_ptr<Path> path = machine.path(rows, options.stations, part);
    if (const auto annealed = spend(*left, *path, rows, key, part)) {
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
