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
  /// What is summed over the rows of one layer of one side.
  struct Sums {
    std::vector<std::int32_t> row_values;    // of each row: sum of the offsets of the units that are on
    std::vector<std::int64_t> counts;        // of each unit: in how many rows it is on
    std::vector<std::int64_t> other_values;  // of each unit: sum of the other layer's row values where it is on
  };
  struct Units {
    Sums data, samples;
    int fraction_bits = 0;              // of the offsets
    std::vector<std::int32_t> offsets;  // as values of the units, in 2^-fraction_bits
    std::vector<float> bit_offsets;     // the same as values of the bits
    std::vector<float> change;          // of the share of rows where a unit is on, data minus samples
    std::vector<double> other_change;   // of the mean of (on or not) * (other layer's row value)
    std::vector<double> gradient;       // of the biases

    void set_offsets(std::span<const double> values, Levels levels);
    void compare(std::size_t data_rows, std::size_t sample_rows, int other_fraction_bits);
  };

  void sum_over_rows(std::size_t block, const Chains& data, const Chains& samples, const Context& context);
  void sum_over_columns(std::size_t block, const Chains& data, const Chains& samples, const Context& context);
  void add_decay(const Rbm& model, const Decay& decay);
  Units& units(std::size_t block) { return block == Rbm::kVisible ? visible_ : hidden_; }

  Units visible_, hidden_;
  PairCounts pair_counts_;
};

}  // namespace ergodic
