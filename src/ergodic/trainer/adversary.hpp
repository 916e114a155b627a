// Adversarial examples: rows moved a little to where a network does worst. A network that learns from them is smooth
// near the data, and errs less on new rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/model/network.hpp"

namespace ergodic {

/// How far rows are moved by default: as a share of their distance from the mean, or in deviations of each input.
inline constexpr double kAdversarialShare = 0.2, kAdversarialDeviations = 0.2;

/// What leaves units out of an update.
struct Dropping {
  const Dropout& share;
  const Draw& draw;
};

/// How far rows are moved: a share of the root mean square of their distance from their mean.
class Reach {
 public:
  /// Inputs are the first values of each row.
  Reach(const Dataset& data, std::size_t inputs, double share);

  double length() const { return length_; }
  /// Moves each row so far against its slopes; a row whose slopes are zero, or next to it, stays.
  void move(MatrixView<const float> slopes, MatrixView<float> inputs, const Context& context) const;

 private:
  double length_;
};

/// How far each input is moved by the sign of its slope: so many of its standard deviations. Inputs that never change
/// stay, as machines need whose steps are longer along inputs that hardly change (centring.hpp).
class SignedReach {
 public:
  /// Inputs are the first values of each row.
  SignedReach(const Dataset& data, std::size_t inputs, double deviations);

  /// Moves the inputs against their slopes.
  void move(MatrixView<const float> slopes, MatrixView<float> inputs, const Context& context) const;

 private:
  std::vector<float> reach_;  // of each input
};

/// Adversarial training (Goodfellow, Shlens and Szegedy 2015): rows are moved against the gradient of log p(label | x).
class Adversary {
 public:
  Adversary(const Dataset& data, double share) : reach_(data, data.units(), share) {}

  /// Moves the inputs of rows with these targets.
  void move(const Network& network, const Dropping& dropping, MatrixView<const float> targets, MatrixView<float> inputs,
            const Context& context);

 private:
  Reach reach_;
  Network::Pass pass_;
  Matrix<float> slopes_;
};

/// Virtual adversarial training (Miyato, Maeda, Koyama and Ishii 2018): p(y | x) should stay as it is when a row moves
/// in the direction in which it changes most. Needs no labels, so that all rows can take part.
class VirtualAdversary {
 public:
  /// Takes rows of this data at random. The data must outlive it.
  VirtualAdversary(const Dataset& data, double share, Key key)
      : data_(data), reach_(data, data.units(), share), key_(key) {}

  /// Draws as many rows as there is room for. `probabilities` are p(y | x) of these rows, `inputs` the rows after they
  /// have moved along the gradient of the Kullback-Leibler divergence from p(y | x), taken at a random point close by:
  /// at the row itself that gradient is zero.
  void find(const Network& network, const Dropping& dropping, std::uint64_t update, MatrixView<float> inputs,
            MatrixView<float> probabilities, const Context& context);

 private:
  const Dataset& data_;
  Reach reach_;
  Key key_;
  std::vector<std::uint32_t> rows_;
  Network::Pass pass_;
  Matrix<float> slopes_;
};

}  // namespace ergodic
