// Drawing letters: sites of several units of which exactly one is on, given units that are {0, 1}.
//
// By definition a letter is drawn with the weights e^I, in double: it is the first whose weights up to it are more than
// u of all of them, u being a uniform number. The fields are looked up in rounded weights (table_sampling.hpp), which
// are off by D at most. Let c be the share of the letters below a border. Weights within factors e^D of the true ones
// change it by no more than c (1 - c) (e^2D - 1). So the border is on the right side of u if
//   |c - u| > u (1 - u) s / (1 - s),   s = e^2D - 1,
// because c (1 - c) <= u (1 - u) + |c - u|; and s / (1 - s) < 2D + 7D^2 for D <= 0.05. Where that holds of all borders,
// the letter is the one of the definition. The few others are summed again, in float and then by the definition; so are
// all where tables do not serve.
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

/// Whether sample_letters can be used for this input.
bool letters_serve(const State& x);

/// Draws the sites of `out`, of so many letters each, given x. Site s of row r has the uniform number
/// (first_chain + r, s).
void sample_letters(const State& x, const Affine& map, std::size_t letters, const Draw& draw, std::uint64_t first_chain,
                    State& out, const Context& context);

}  // namespace ergodic
