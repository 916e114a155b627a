// The modern, continuous Hopfield network (Ramsauer and others 2020): the patterns themselves are kept, and a state x
// of real values is drawn to them by softmax,
//   x <- X softmax(beta X'x),   X = the P patterns as columns,
//   E(x) = -1/beta log sum_p exp(beta p'x) + 1/2 x'x + 1/beta log P + 1/2 M^2,   M = the length of the longest pattern.
// Every update lowers E, which is never below zero. One update is nearly always enough, if the patterns lie apart.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/model/recall.hpp"

namespace ergodic {

class ModernHopfield {
 public:
  /// A row for each pattern. UsageError with what flaw_in_patterns says, if anything.
  ModernHopfield(Matrix<float> patterns, float beta);

  std::size_t units() const { return patterns_.cols(); }
  const Matrix<float>& patterns() const { return patterns_; }
  float beta() const { return beta_; }

  /// E(x) of one state.
  double energy(std::span<const double> x) const;
  /// Replaces the state by its update; returns E of the state as it was.
  double update(std::span<double> x) const;

 private:
  double energy_from(double log_sum, std::span<const double> x) const;

  Matrix<float> patterns_;
  float beta_;
  double longest_squared_ = 0.0;
};

struct ModernRecalled {
  Matrix<float> rows;
  std::vector<RecallPath> paths;
};

/// Updates each row until no unit moves by more than 2^-20, at most `sweeps` times.
ModernRecalled recall(const ModernHopfield& network, MatrixView<const float> rows, std::uint64_t sweeps,
                      const Context& context);

/// How many of the rows have every sign unchanged after one update.
std::size_t count_stable(const ModernHopfield& network, MatrixView<const float> rows, const Context& context);

/// What keeps these from being a network: no pattern, an element that is not finite, beta not above zero.
std::optional<std::string> flaw_in_patterns(MatrixView<const float> patterns, float beta);

}  // namespace ergodic
