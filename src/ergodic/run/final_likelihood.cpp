#include "ergodic/run/final_likelihood.hpp"

#include <algorithm>

#include "ergodic/core/clock.hpp"
#include "ergodic/core/part_of_whole.hpp"
#include "ergodic/estimator/budget.hpp"
#include "ergodic/estimator/independent.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/run/evaluate.hpp"
#include "ergodic/run/finite.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kMostRows = 2000;
constexpr double kLeastSeconds = 3.0, kPatience = 2.0;  // a first round may take longer than it should

constexpr char kNoTime[] =
    "no likelihood: a first look at it takes longer than a tenth of the training; `ergodic evaluate` has the time";

constexpr double kShareOfEnergies = 0.02;  // of the time, where free energies are summed

/// Says only how far it is, and stops when the run is to stop, or when the time is over.
class Quiet : public Observer {
 public:
  Quiet(double seconds, const Context& context) : ends_(steady_seconds() + seconds), context_(context) {}
  void progress(const Progress& progress) override { context_.progress(progress); }
  bool stop_requested() override { return context_.stop_requested() || steady_seconds() > ends_; }

 private:
  double ends_;
  const Context& context_;
};

/// The mean free energy of rows, or of some of them if hidden units must be annealed or drawn, for which the budget is
/// then; and how many draws a row has, if it is a bound.
std::optional<FreeEnergy> free_energy_of(const Machine& machine, const State& rows, const Budget& budget,
                                         std::size_t& bound_draws, Key key, const Context& context) {
  if (auto clamped = machine.clamped_rows(rows, key)) {
    const auto found = spend_on_rows(budget, *clamped, context);
    return found ? std::optional(mean_free_energy(*found)) : std::nullopt;
  }
  if (const auto energies = machine.free_energies(rows, context)) return mean_free_energy(*energies);
  const auto bounds = budgeted_bounds(machine, rows, budget, key, context);
  if (!bounds) return std::nullopt;
  bound_draws = kRowDraws;
  return mean_free_energy(*bounds);
}

}  // namespace

std::optional<double> independent_likelihood(const Machine& machine, const Dataset& train, const Dataset& held_out,
                                             Key key) {
  const Dataset& judged = held_out.rows() > 0 ? held_out : train;
  if (!judged.complete()) return std::nullopt;
  return independent_log_likelihood(machine.visible(), train, random_rows(machine.visible(), judged, kMostRows, key));
}

std::optional<FinalLikelihood> final_likelihood(const Machine& machine, const Dataset& train, const Dataset& held_out,
                                                double seconds, Key key, const Context& context) {
  const bool apart = held_out.rows() > 0;
  const Dataset& data = apart ? held_out : train;
  if (!data.complete() || context.stop_requested()) return std::nullopt;
  Quiet quiet(kLeastSeconds + kPatience * seconds, context);
  const Context inner{context.threads, &quiet};
  context.stage({"likelihood", ""});
  const State rows = random_rows(machine.visible(), data, kMostRows, key);
  const Budget budget{0, seconds};
  const double energies =
      machine.clamped_rows(rows, key) || bounds_rows(machine, rows, key) ? share_of_rows(budget) : kShareOfEnergies;
  PartOfWhole first(inner, 0.0, energies), second(inner, energies, 1.0);
  std::size_t draws = 0;
  const std::optional<FreeEnergy> energy = free_energy_of(machine, rows, budget, draws, key, first.context());
  const auto found = energy ? spend(budget, *machine.path(rows, {}, inner), rows, key, second.context()) : std::nullopt;
  if (!found) {
    if (!context.stop_requested()) context.note(kNoTime);
    return std::nullopt;
  }
  const Estimate likelihood = log_likelihood_of(energy->mean, found->found.log_z);
  require_finite(likelihood, "the log-likelihood");
  return FinalLikelihood{likelihood, energy->row_error, energy->rows, apart, found->found.temperatures, draws};
}

}  // namespace ergodic
