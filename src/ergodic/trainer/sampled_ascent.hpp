// A step of gradient ascent from samples: states of the data and states of the model, both as bits.
//
// With the bits b of a visible and c of a hidden unit, x = low + g b and v = low + h c, the conditioned gradient of
// conditioning.hpp is, about the offsets mu and lambda of the bits,
//   G = <(b - mu)(c - lambda)'>_data - <(b - mu)(c - lambda)'>_model,   dW = G / (g h),
// and the changes of the biases follow from sums over rows, which cost far less than sums over weights. Counts of pairs
// are integers, the offsets are whole multiples of a small power of two: all statistics are exact, in any order. Only
// the step itself rounds, element by element.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/kernels/pair_counts.hpp"
#include "ergodic/model/rbm.hpp"
#include "ergodic/sampler/chains.hpp"
#include "ergodic/trainer/conditioning.hpp"
#include "ergodic/trainer/optimiser.hpp"

namespace ergodic {

/// The offsets of centring, as values of the units: mu and lambda.
struct Offsets {
  std::span<const double> visible;
  std::span<double> hidden;
  double hidden_rate = 0.0;  ///< weight of this batch in the moving mean that the hidden offsets are; 0 keeps them
};

/// Holds the working memory of the steps, so that nothing is allocated from the second on.
class SampledAscent {
 public:
  /// Moves the offsets towards the data's hidden means, then the machine along the conditioned gradient.
  void step(Rbm& model, const Chains& data, const Chains& samples, const Offsets& offsets, const Decay& decay,
            const Sgd& sgd, double rate, std::span<float> velocity, const Context& context);

 private:
  /// One layer of one side.
  struct Sums {
    std::vector<std::int32_t> row_values;    // sum of the offsets of the units that are on
    std::vector<std::int64_t> counts;        // how often each unit is on
    std::vector<std::int64_t> other_values;  // sum of the other layer's row values where it is on
  };
  struct Layer {
    Sums data, samples;
    int fraction_bits = 0;              // of the offsets
    std::vector<std::int32_t> offsets;  // as values of the units, in 2^-fraction_bits
    std::vector<float> bit_offsets;     // the same as values of the bits
    std::vector<float> change;          // difference of the shares of rows where each unit is on
    std::vector<double> other_change;   // difference of the means of (on or not) * other layer's row value
  };

  void set_offsets(Layer& layer, std::span<const double> offsets, Levels levels);
  void compare(Layer& layer, std::size_t data_rows, std::size_t sample_rows, int other_fraction_bits);

  Layer visible_, hidden_;
  PairCounts counts_;
};

}  // namespace ergodic
