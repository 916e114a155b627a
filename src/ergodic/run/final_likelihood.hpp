// What `ergodic train` says at its end of the likelihood of rows that it has not learned from.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/estimator/likelihood.hpp"
#include "ergodic/estimator/path.hpp"
#include "ergodic/model/layer.hpp"
#include "ergodic/run/budget.hpp"

namespace ergodic {

/// A mean over rows, in nats.
struct FinalLikelihood {
  Estimate log_likelihood;
  double row_error = 0.0;  ///< standard error over rows
  std::size_t rows = 0;
  bool held_out = false;  ///< else they are rows of the training data
  std::size_t temperatures = 0;
};

/// What annealing needs of a machine.
struct Annealable {
  Layer visible;
  std::function<std::unique_ptr<Path>(const State& rows, const Context& context)> path;
  /// Its mean over rows, or over some of them if it must be annealed, for which the budget is then.
  std::function<std::optional<FreeEnergy>(const State& rows, const Budget& budget, Key key, const Context& context)>
      free_energy;
};

/// Spends these seconds on annealing, or a little more. Nothing if the data has missing values, if stopped, or if no
/// round came to its end by then.
std::optional<FinalLikelihood> final_likelihood(const Annealable& machine, const Dataset& train,
                                                const Dataset& held_out, double seconds, Key key,
                                                const Context& context);

/// For a person.
std::string to_text(const FinalLikelihood& found);

}  // namespace ergodic
