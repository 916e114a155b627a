// The conditioned gradient (centring.hpp) of a machine with real units, from states, in float, and a step along it. One
// of the layers is bits, so that statistics of pairs are look-ups (bit_product.hpp).
//
// The weights are taken in strips of some visible units: what is found of a strip is centred, shortened and stepped
// along while it is in the cache. Steps are shorter along some directions by sums over all visible units; since those
// are linear in the units, they are found of projected states, before any strip.
//
// For statistics of pairs the real units of a batch are rounded about their offsets to 16 bits, each in a unit of its
// own so small that its sums just fit: with 200 rows a 200th of its deviation. What rounding adds to the variance of a
// gradient is some millionths of what sampling does. Integers are the same in any order.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/kernels/couplings.hpp"
#include "ergodic/model/rbm.hpp"
#include "ergodic/trainer/centring.hpp"
#include "ergodic/trainer/optimiser.hpp"

namespace ergodic {

/// States of both layers, a row for each sample. Real hidden units may be what they are on average given the visible
/// ones.
struct BothLayers {
  const State& visible;
  const State& hidden;
};

/// What the gradient is made of. The offsets mu and lambda are those of centring.
struct RealTerms {
  BothLayers data, samples;
  const Gaps& gaps;
  std::span<const double> mu, lambda;
  Decay decay;
};

class RealGradient {
 public:
  /// Laid out as the parameters, and valid until the next call.
  std::span<const float> find(const Rbm& model, const RealTerms& terms, const Context& context);

  /// A step along it, after which `bound` may change the parameters.
  void ascend(Rbm& model, const RealTerms& terms, const Sgd& sgd, StepSize size, std::span<float> velocity,
              const std::function<void(Parameters&)>& bound, const Context& context);

 private:
  /// What the units of a layer differ by, data minus samples, in the mean; and their squares, if they are real.
  struct Units {
    std::vector<float> change, square_change;
    std::vector<float> pair_change;         // of states as pairs have them, rounded or not
    std::vector<float> offset, per_square;  // the mean about which, and 1 / gap^2
  };
  /// One side of the gradient, with its sign and divided by its rows.
  struct Side {
    Bits columns;                  // those of the layer of bits
    Matrix<std::int16_t> rounded;  // the other layer, scaled; visible units strip after strip
    Matrix<float> reals;           // the same in float, for more rows than are rounded
    Levels levels;

    template <class T>
    const Matrix<T>& values() const;
  };

  struct VisibleUnit {
    std::size_t index;
    std::span<const float> weights;
    float bias;
  };

  // Visible units of a strip. Where they are bits, each strip makes tables of the hidden layer anew, so it is longer.
  static constexpr std::size_t kRealStrip = 64, kBitStrip = 128;
  static_assert(kRealStrip % Couplings::kBlock == 0 && kBitStrip % Couplings::kBlock == 0);

  std::size_t strip_height() const { return visible_real_ ? kRealStrip : kBitStrip; }
  /// The layer of real units of a side.
  const State& real_side(const RealTerms& terms, std::size_t side) const {
    const BothLayers& layers = side == 0 ? terms.data : terms.samples;
    return visible_real_ ? layers.visible : layers.hidden;
  }
  /// The real units [first, first + count) of a sample as they are kept for look-ups: visible ones by strips, of which
  /// these are one, so that each strip is a matrix of its own.
  template <class T>
  std::span<T> part_of(Matrix<T>& all, std::size_t first, std::size_t count, std::size_t row) const {
    const std::size_t at = visible_real_ ? first * all.rows() + row * count : row * all.cols() + first;
    return all.elements().subspan(at, count);
  }

  template <class Put, class Done>
  void find_strips(const Rbm& model, const RealTerms& terms, const Context& context, const Put& put, const Done& done);
  void prepare(const Rbm& model, const RealTerms& terms, const Context& context);
  void round_sides(const RealTerms& terms, const Context& context);
  void round_units(const RealTerms& terms, std::span<const float> offsets, std::size_t first, std::size_t count);
  void find_directions(const RealTerms& terms, const Context& context);
  template <class T>
  void add_sides(std::size_t first, MatrixView<T> sums) const;
  void find_pairs(std::size_t first, MatrixView<float> pairs) const;
  void condition_row(const VisibleUnit& unit, std::span<float> row);
  void finish_row(const RealTerms& terms, const VisibleUnit& unit, std::span<float> follow, std::span<float> row);

  bool visible_real_ = false, rounded_ = false;
  Units visible_, hidden_;
  std::vector<float> units_, scales_;       // of what is rounded, and 1 / unit
  std::vector<std::int16_t> rounded_sums_;  // over all rows
  std::vector<float> hidden_l1_;            // of the weights of each hidden unit, beside that of all
  std::array<Side, 2> sides_;               // of the data and of the samples
  std::vector<float> gradient_;             // of all parameters, if it is asked for
  std::vector<float> rest_;                 // of those after the weights, in their order
  std::span<float> bias_, hidden_bias_;     // parts of it
  std::span<float> precision_;              // by the logs of those of visible units, if they are real
  Matrix<float> follow_;                    // what hidden biases lose by the weights of each strip
  Matrix<float> directions_, along_;        // [visible, directions], and how far steps go along them, less
  std::array<Matrix<float>, 2> projected_;  // what states are along them, of each side
  Matrix<float> turned_along_;
};

}  // namespace ergodic
