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

namespace ergodic {

struct EvaluateOptions {
  Budget budget{5000, 0.0};  ///< for annealing, where something cannot be summed
  std::vector<Parameters> stations =
      {};  ///< snapshots of training, for the path of annealing; empty: the straight path
};

struct EvaluateResult {
  std::size_t rows = 0;
  Evaluation evaluation;
  std::string why_no_log_z;  ///< empty if there is a likelihood
  bool partial = false;      ///< stopped before the budget of annealing was spent
  bool stopped = false;
};

/// UsageError for data that does not fit the machine. Warns of what annealing cannot be trusted with.
EvaluateResult evaluate(const Machine& machine, const Dataset& data, const EvaluateOptions& options, Key key,
                        const Context& context);

}  // namespace ergodic
