// log Z(x) of rows x: the sum over the hidden units of a machine with the visible ones clamped to the row, where it is
// too wide to be taken. log p(x) = log Z(x) - log Z.
//
// The hidden units of a row are a machine by themselves (model/hidden_given_visible.hpp for a graph,
// model/conditional.hpp for a deep machine), so each row is annealed both ways for itself (annealing.hpp), with few
// chains. Those are swept at the row first. Their means are where its path begins, which is then short, and their last
// states are where it begins backward. The mean over rows of the lower bounds is below the mean of log Z(x), that of
// the upper ones above; the errors of single rows average out.
//
// Annealing is slow, so only some rows are annealed. Where there is a bound b(x) of log Z(x) that is quick, all rows
// take part: the mean of log Z(x) is that of b(x) over all rows plus that of log Z(x) - b(x) over those annealed, which
// varies far less from row to row than log Z(x) does (a control variate).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/estimator/annealing.hpp"
#include "ergodic/estimator/estimate.hpp"
#include "ergodic/model/boltzmann.hpp"
#include "ergodic/model/deep_boltzmann.hpp"

namespace ergodic {

/// What is known of log Z(x) over rows.
struct ClampedLogZ {
  AnnealedLogZ mean;       ///< over the rows; chains and effective ones are those of a row
  double row_error = 0.0;  ///< standard error over rows, those annealed and those of which there are bounds alone
  std::size_t rows = 0;
};

/// Why it should not be trusted, as for any annealing.
std::vector<std::string> doubts_about(const ClampedLogZ& found);

class ClampedRows {
 public:
  static constexpr std::size_t kChains = 16;  ///< of each row and direction
  /// How often each of them is swept at a row.
  static std::size_t sweeps_of_row(std::size_t temperatures);

  /// Go through random rows of these. The machine, which has hidden units, must outlive this.
  ClampedRows(const Boltzmann& machine, State rows, Key key);
  ClampedRows(const DeepBoltzmann& machine, State rows, Key key);

  /// What a sweep of the hidden units costs, in sweeps of the whole machine.
  double cost_of_sweep() const { return cost_; }
  std::size_t rows() const { return order_.size(); }
  std::size_t rows_done() const { return log_z_.size(); }
  /// Anneals some rows more, or all that are left if these are fewer, each in so many temperatures. A thread has a row.
  /// Progress counts rows; false if stopped before the end.
  bool anneal(std::size_t rows, std::size_t temperatures, const Context& context);

  /// Finds the quick bounds of all rows, if the machine has such and rows are left.
  void bound_all(const Context& context);

  /// What the rows done so far have given, at least one, and the bounds of all, if they have been found.
  ClampedLogZ found() const;
  /// log Z(x) of each, in the order in which they were done.
  const std::vector<AnnealedLogZ>& each() const { return log_z_; }

 private:
  /// log Z(x) of a row, by chains that draw the numbers of the key.
  using AnnealRow = std::function<AnnealedLogZ(std::size_t row, std::size_t temperatures, Key key)>;
  /// A bound of log Z(x) for each row.
  using BoundRows = std::function<std::vector<double>(const Context& context)>;
  ClampedRows(std::size_t rows, double cost, AnnealRow anneal_row, BoundRows bound_rows, Key key);

  AnnealRow anneal_row_;
  BoundRows bound_rows_;  // empty if there is none that is quick
  double cost_;
  Key key_;
  std::vector<std::uint32_t> order_;
  std::vector<AnnealedLogZ> log_z_;  // of the rows done
  std::vector<double> bounds_;       // of all rows, once they are found
};

}  // namespace ergodic
