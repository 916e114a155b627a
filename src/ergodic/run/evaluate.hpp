// How likely data is under a machine.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/estimator/budget.hpp"
#include "ergodic/estimator/likelihood.hpp"
#include "ergodic/machine/machine.hpp"
#include "ergodic/run/open_rows.hpp"

namespace ergodic {

struct EvaluateOptions {
  Budget budget{5000, 0.0};  ///< for annealing, where something cannot be summed
  std::vector<Parameters> stations =
      {};                             ///< snapshots of training, for the path of annealing; empty: the straight path
  const Dataset* training = nullptr;  ///< whose means independent units have; null: those of the rows themselves
};

struct EvaluateResult {
  std::size_t rows = 0;
  Evaluation evaluation;
  double independent = 0.0;        ///< log-likelihood of independent units, in nats a row
  bool means_of_training = false;  ///< which these have; else those of the rows themselves
  std::string why_no_log_z;        ///< empty if there is a likelihood
  bool partial = false;            ///< stopped before the budget of annealing was spent
  bool stopped = false;
};

/// log Z alone: exact, or by annealing within a budget. Nothing in `log_z` if stopped before there is any.
struct FoundLogZ {
  std::optional<Estimate> log_z;
  std::optional<AnnealedLogZ> annealed;  ///< where it comes from, if it is not exact
  bool partial = false;                  ///< stopped before the budget was spent
};
/// `rows` are visible states that are likely: of data, or of the machine's own chains. Warns of what annealing cannot
/// be trusted with.
FoundLogZ find_log_z(const Machine& machine, const State& rows, const Budget& budget,
                     const std::vector<Parameters>& stations, Key key, const Context& context);
/// Bounds of -F(x) of random ones of these rows, for a machine that has such: one for each five temperatures, from a
/// hundred to a thousand; of a budget in seconds, as many as fit into a quarter of them. Nothing if stopped, or if it
/// has none.
std::optional<std::vector<Estimate>> budgeted_bounds(const Machine& machine, const State& rows, const Budget& budget,
                                                     Key key, const Context& context);
/// Visible states by the machine's own chains, for a machine without data.
State own_rows(const Machine& machine, Key key, const Context& context);
/// Rows with draws of what is missing.
State completed_rows(const Machine& machine, const OpenRows& rows, Key key, const Context& context);

/// Rows may have missing values, which are summed out. UsageError for data that does not fit the machine. Warns of what
/// annealing cannot be trusted with.
EvaluateResult evaluate(const Machine& machine, const Dataset& data, const EvaluateOptions& options, Key key,
                        const Context& context);

/// log Z alone, without data.
EvaluateResult evaluate(const Machine& machine, const EvaluateOptions& options, Key key, const Context& context);

}  // namespace ergodic
