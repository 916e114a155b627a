// A step of gradient ascent from samples: states of the data and states of the model, both as bits.
//
// With the bits b of a visible and c of a hidden unit, x = low + g b and v = low + h c, the conditioned gradient of
// centring.hpp is, about the offsets mu and lambda of the bits,
//   G = <(b - mu)(c - lambda)'>_data - <(b - mu)(c - lambda)'>_model,   dW = G / (g h),
// and the changes of the biases follow from the products of the pair statistics with the offsets. Counts of pairs are
// integers, the offsets are whole multiples of a small power of two: all statistics are exact, in any order. Only the
// step itself rounds, element by element.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/kernels/pair_counts.hpp"
#include "ergodic/kernels/pair_projection.hpp"
#include "ergodic/model/rbm.hpp"
#include "ergodic/sampler/chains.hpp"
#include "ergodic/trainer/centring.hpp"
#include "ergodic/trainer/optimiser.hpp"

namespace ergodic {

/// The offsets of centring, as values of the units: mu and lambda.
struct Offsets {
  std::span<double> visible;
  std::span<double> hidden;
  /// The weight of this batch in the moving mean that the offsets of units are which data does not set; 0 keeps them.
  double rate = 0.0;
};

/// What the gradient is made of.
struct SampledTerms {
  const Chains &data, &samples;
  Offsets offsets;
  Decay decay = {};
};

/// Holds the working memory of the steps, so that nothing is allocated from the second on.
class SampledAscent {
 public:
  /// Moves the offsets of units that data does not set towards their means given the data, then the machine along the
  /// conditioned gradient.
  void step(Rbm& model, const SampledTerms& terms, const Sgd& sgd, double rate, std::span<float> velocity,
            const Context& context);
  /// Moves these offsets, and finds the conditioned gradient of the parameters, which are those of the model and stay.
  void find(const Rbm& model, Parameters& parameters, const SampledTerms& terms, std::span<float> gradient,
            const Context& context);

 private:
  /// How a gradient becomes a step.
  struct Pace {
    const Sgd& sgd;
    double rate = 0.0;
    std::span<float> velocity;
    bool kept = true;  // the velocity of the weights, which is nobody's without momentum
  };
  struct Units {
    std::vector<float> offsets;       // as values of the units, in 2^-fraction_bits_
    std::vector<float> bit_offsets;   // the same as values of the bits
    std::vector<float> part;          // the offsets of some of the units, zeros for the others
    std::vector<float> change;        // of the share of rows where a unit is on, data minus samples
    std::vector<double> pair_change;  // of the mean of (on or not) * (sum of the other layer's offsets that are on)
    std::vector<double> pairs;        // the same about the offsets, of the pairs that are coupled
    std::vector<double> decay;        // what penalties add to the gradient
  };

  /// What is the same for all weights: counts of units, offsets, and what pulls them.
  void prepare(const Rbm& model, const SampledTerms& terms, std::span<const WeightedPairs> sides,
               const Context& context);
  /// Steps the parameters, calling done(row, column) after each block of the weights.
  template <class Done>
  void ascend_blocks(const Rbm& model, Parameters& parameters, const SampledTerms& terms, const Pace& pace,
                     const Done& done, const Context& context);
  void step_biases(const Rbm& model, const Pace& pace, Parameters& parameters) const;
  void count(const Chains& data, const Chains& samples, const Context& context);
  void set_offsets(std::span<const double> values, Levels levels, Units& units) const;
  void project(const Rbm& model, std::span<const WeightedPairs> sides, const Context& context);
  void project_block(const UnitPairs& block, std::span<const WeightedPairs> sides, const Context& context);
  void find_decay(const Rbm& model, const Decay& decay, double gaps, const Context& context);

  int fraction_bits_ = 0;  // of the offsets
  Units visible_, hidden_;
  std::vector<std::uint32_t> hidden_data_counts_, hidden_sample_counts_;  // in how many rows each unit is on
  std::vector<double> data_shares_, sample_shares_;                       // of any number of rows
  std::vector<float> column_l1_;  // of the weights of each hidden unit; empty: nothing pulls weights
  PairCounts pair_counts_;
  PairProjection pair_projection_;
};

}  // namespace ergodic
