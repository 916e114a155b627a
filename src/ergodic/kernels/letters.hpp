// Drawing letters: sites of several units of which exactly one is on, given units that are {0, 1}.
//
// By definition a letter is drawn with the weights e^I, in double. Sums in float and e^I in float differ from these by
// no more than a factor e^D, which moves no border between two letters by more than (e^2D - 1) / 4. Where a uniform
// number is farther than that from both borders of its letter, the letter is the one of the definition. The few others
// are drawn by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/kernels/products.hpp"
#include "ergodic/kernels/state.hpp"

namespace ergodic {

/// The letters of one site under their fields: the weights e^(I - largest I), kept in `storage`, and their sum.
struct LetterWeights {
  LetterWeights(std::span<const double> fields, std::vector<double>& storage);

  /// The letter that a uniform number in [0, 1) draws.
  std::size_t drawn(double uniform) const;

  const std::vector<double>& weights;
  double largest = 0.0, total = 0.0;
};

/// Whether sample_letters can be used for this input and map.
bool letters_serve(const State& x, const Affine& map);

/// Draws the sites of `out`, of so many letters each, given x. Site s of row r has the uniform number
/// (first_chain + r, s).
void sample_letters(const State& x, const Affine& map, std::size_t letters, const Draw& draw, std::uint64_t first_chain,
                    State& out, const Context& context);

}  // namespace ergodic
