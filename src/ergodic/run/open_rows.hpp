// Rows some of whose values are not known: how likely the known ones are, and draws of the others given them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "ergodic/core/bits.hpp"
#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/estimator/estimate.hpp"
#include "ergodic/machine/machine.hpp"

namespace ergodic {

struct OpenRows {
  State rows;
  Bits known = {};  ///< a bit for each visible unit of each row; without rows if all are known

  bool complete() const { return known.rows() == 0; }
  bool complete(std::size_t row) const;
};

/// The rows of a data set; grey levels are drawn once with the key.
OpenRows open_rows_of(const Layer& visible, const Dataset& data, Key key);

/// Lower bounds of -F(x) of rows whose hidden units a machine cannot sum over, a few rows at a time for as long as
/// `more(rows done)`; fewer than there are rows if that ends first. Nothing if stopped, or if it has none.
std::optional<std::vector<Estimate>> row_bounds(const Machine& machine, const State& rows, std::size_t draws, Key key,
                                                const std::function<bool(std::size_t)>& more, const Context& context);
inline constexpr std::size_t kRowDraws = 100;
/// Whether that is what is known of rows.
bool bounds_rows(const Machine& machine, const State& rows, Key key);

/// log of the sum of exp(-F(x)) over all x that agree with a row where it is known: log p(known) + log Z. Exact where
/// the sum is short, else by annealing both ways in so many temperatures; of whole rows, bounds from kRowDraws draws if
/// the machine has such. Nothing if stopped; UsageError if the machine can do neither. A row has its own random
/// numbers.
std::optional<std::vector<Estimate>> open_log_sums(const Machine& machine, const OpenRows& open,
                                                   std::size_t temperatures, Key key, const Context& context);
inline constexpr std::size_t kRowTemperatures = 500;

/// What is averaged over the chains of a row, sweep by sweep.
enum class Averaged { kNothing, kVisible, kHidden };

struct OpenDrawOptions {
  std::uint64_t sweeps = 500;  ///< of which the first half is warm-up
  std::uint64_t draws = 1;     ///< chains of each row
  Averaged averaged = Averaged::kNothing;
  std::size_t layer = 1;  ///< of hidden units that are averaged
};

/// What chains found that keep the known values of their row. Row r has the chains r * draws, ..., (r + 1) * draws - 1.
struct OpenDraws {
  Chains chains;
  /// [rows, units]: plain values of visible units, where known as they are, or values of hidden ones.
  Matrix<float> means;
};
/// Each chain has its own random numbers. Nothing if stopped.
std::optional<OpenDraws> draw_open(const Machine& machine, const OpenRows& open, const OpenDrawOptions& options,
                                   Key key, const Context& context);

/// The units of a layer in their own values, a row for each chain.
Matrix<float> own_values(const State& state);

}  // namespace ergodic
