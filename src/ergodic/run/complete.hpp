// Completion of rows: values that are missing, drawn given those that are known; and how well, where the truth is
// known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/estimator/estimate.hpp"
#include "ergodic/machine/machine.hpp"
#include "ergodic/run/open_rows.hpp"

namespace ergodic {

struct CompleteOptions {
  std::uint64_t draws = 1;  ///< completions of each row
  std::uint64_t sweeps = 500;
  bool means = false;  ///< one row of expected values, averaged over sweeps, instead of draws
};

struct Completions {
  bool stopped = false;
  Matrix<float> values;  ///< plain values, [rows * draws, units], or [rows, units] of means
  Matrix<float> shown;   ///< the same for pictures: expected values given the hidden units, where there are any
};

Completions complete(const Machine& machine, const OpenRows& rows, const CompleteOptions& options, Key key,
                     const Context& context);

/// How well values were filled in: for discrete sites the share of wrong ones, for real units the root mean square
/// difference; and the mean log-probability of what was hidden in a row, given the rest of it, in nats.
struct FillingQuality {
  double error = 0.0;
  Estimate log_probability;
};

struct CompletionQuality {
  std::size_t rows = 0;        ///< looked at
  double hidden_sites = 0.0;   ///< in a row, on average
  FillingQuality machine;      ///< the completions, and the machine's own log-probability
  FillingQuality independent;  ///< each site by the shares of its values in the reference rows, alone
  FillingQuality neighbour;    ///< the values of the nearest reference row, with the best constant confidence
};

/// Reference rows that others are compared with; `same` says that they are the completed rows themselves, so that a row
/// is not its own neighbour.
struct ReferenceRows {
  const Dataset& data;
  bool same = false;
};

/// For rows whose hidden values are known after all: `open.rows` has them, `open.known` says which were hidden, and
/// `values` are one completion of each row. Looks at the first rows, a hundred at most. Nothing if stopped, or if the
/// machine cannot sum over hidden values.
std::optional<CompletionQuality> quality_of_completions(const Machine& machine, const OpenRows& open,
                                                        const Matrix<float>& values, const ReferenceRows& reference,
                                                        Key key, const Context& context);

}  // namespace ergodic
