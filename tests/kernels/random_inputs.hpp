// Random inputs for the kernels, what sampling is by definition, and all instruction sets in turn.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/kernels/coin.hpp"
#include "ergodic/kernels/products.hpp"
#include "ergodic/kernels/quantised.hpp"
#include "ergodic/kernels/state.hpp"
#include "ergodic/kernels/target.hpp"

namespace ergodic::test {

inline constexpr Levels kBinary{0.0f, 1.0f}, kSpins{-1.0f, 1.0f};

/// The levels of a layer and of the layer drawn from it, in all pairings.
inline constexpr std::pair<Levels, Levels> kPairings[] = {
    {kBinary, kBinary}, {kBinary, kSpins}, {kSpins, kBinary}, {kSpins, kSpins}};

/// Sizes around the edges of words, tiles, blocks and plans.
inline constexpr std::size_t kEdges[] = {31, 32, 33, 63, 64, 65, 95, 96, 97, 127, 128, 129, 511, 512, 513};

/// Calls f() on each instruction set of this CPU, and leaves the best one chosen.
template <class F>
void for_each_target(const F& f) {
  const std::vector<std::string> targets = available_targets();
  struct Restore {
    const std::string& best;
    ~Restore() { use_target(best); }
  };
  const Restore restore{targets.front()};
  for (const std::string& target : targets) {
    use_target(target);
    SCOPED_TRACE(target);
    f();
    if (testing::Test::HasFatalFailure()) return;
  }
}

/// Standard normal numbers times `scale`. For a seed, a smaller matrix is not a part of a larger one.
inline Matrix<float> random_matrix(std::size_t rows, std::size_t cols, std::uint64_t seed, float scale = 1.0f) {
  Matrix<float> out(rows, cols);
  const Draw draw = Key{seed}.at(Purpose::kTest);
  for (std::size_t k = 0; k < rows * cols; ++k) {
    out.elements()[k] = scale * static_cast<float>(draw.normal(1, static_cast<std::uint32_t>(k)));
  }
  return out;
}

inline Bits random_bits(std::size_t rows, std::size_t cols, double density, std::uint64_t seed) {
  Bits out(rows, cols);
  const Draw draw = Key{seed}.at(Purpose::kTest);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < cols; ++c) {
      out.set(r, c, draw.uniform(static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(c)) < density);
    }
  }
  return out;
}

inline State random_state(std::size_t chains, std::size_t units, Levels levels, double density, std::uint64_t seed) {
  return {random_bits(chains, units, density, seed), levels};
}

/// Some rows of a state.
inline State rows_of(const State& x, std::size_t begin, std::size_t count) {
  State out(count, x.units(), x.levels());
  for (std::size_t r = 0; r < count; ++r) {
    std::copy(x.bits().row(begin + r).begin(), x.bits().row(begin + r).end(), out.bits().row(r).begin());
  }
  return out;
}

inline Matrix<float> transposed_of(MatrixView<const float> in) {
  Matrix<float> out(in.cols(), in.rows());
  for (std::size_t i = 0; i < in.rows(); ++i) {
    for (std::size_t j = 0; j < in.cols(); ++j) out(j, i) = in(i, j);
  }
  return out;
}

/// Compares all that there is of rounded weights.
inline void expect_same(const QuantisedWeights& a, const QuantisedWeights& b) {
  ASSERT_EQ(a.tiles(), b.tiles());
  ASSERT_EQ(a.blocks(), b.blocks());
  for (std::size_t tile = 0; tile < a.tiles(); ++tile) {
    for (std::size_t c = 0; c < kTileColumns; ++c) {
      const std::size_t j = tile * kTileColumns + c;
      ASSERT_EQ(a.exponents()[j], b.exponents()[j]);
      if (a.exponents()[j] == QuantisedWeights::kNone) continue;
      ASSERT_EQ(a.offsets()[j], b.offsets()[j]);
      ASSERT_EQ(a.roundings()[j], b.roundings()[j]);
      for (std::size_t i = 0; i < a.blocks() * kBlockRows; ++i) {
        const std::size_t block = i / kBlockRows, at = i % kBlockRows * kTileColumns + c;
        ASSERT_EQ(a.block(tile, block)[at], b.block(tile, block)[at]);
      }
    }
  }
  for (std::size_t j = 0; j < a.reach().size(); ++j) {
    ASSERT_TRUE(a.reach()[j] == b.reach()[j] || (std::isnan(a.reach()[j]) && std::isnan(b.reach()[j])));
  }
}

/// A map with all that is derived from its weights and biases.
struct Map {
  Matrix<float> weights, transposed, bias;
  QuantisedWeights quantised;

  Map(Matrix<float> the_weights, Matrix<float> the_bias, Levels input)
      : weights(std::move(the_weights)),
        transposed(transposed_of(weights)),
        bias(std::move(the_bias)),
        quantised(weights.rows(), weights.cols(), input.low) {
    quantised.assign(weights, bias.row(0), {});
  }

  double beta = 1.0;
  Matrix<float> base = {};  // none, or a row

  operator Affine() const {
    return {weights,    transposed, bias.row(0),
            &quantised, beta,       base.rows() > 0 ? base.row(0) : std::span<const float>{}};
  }
};

inline Map random_map(std::size_t inputs, std::size_t outputs, std::uint64_t seed, Levels input,
                      float weight_scale = 1.0f, float bias_scale = 1.0f) {
  return {random_matrix(inputs, outputs, seed, weight_scale), random_matrix(1, outputs, seed + 1, bias_scale), input};
}

/// Weights, biases and densities that change with each turn: from weights that barely matter to sums that overflow a
/// float, and biases that saturate. The numbers of choices (9, 7, 5; 4 pairings of levels) have no common factor, so
/// all combinations come up in 1260 turns, any two in 63.
class VariedInputs {
 public:
  void next() { ++turn_; }
  std::uint64_t turn() const { return turn_; }
  double density() const { return kDensities[turn_ % std::size(kDensities)]; }
  std::pair<Levels, Levels> pairing() const { return kPairings[turn_ % std::size(kPairings)]; }
  Matrix<float> weights(std::size_t rows, std::size_t cols) const {
    Matrix<float> out(rows, cols);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < cols; ++j)
        out(i, j) = kWeightScales[turn_ % std::size(kWeightScales)] * normals_(i, j);
    }
    return out;
  }
  Matrix<float> bias(std::size_t cols) const {
    Matrix<float> out(1, cols);
    for (std::size_t j = 0; j < cols; ++j) {
      out(0, j) = kBiasScales[turn_ % std::size(kBiasScales)] * normals_(kLargest, j);
    }
    return out;
  }

 private:
  static constexpr std::size_t kLargest = 520;
  static constexpr float kWeightScales[] = {0.0f, 1e-6f, 0.01f, 0.1f, 0.3f, 1.0f, 30.0f, 1e3f, 1e38f};
  static constexpr float kBiasScales[] = {0.0f, 0.1f, 1.0f, 5.0f, 30.0f, 1e3f, 1e4f};
  static constexpr double kDensities[] = {0.0, 0.02, 0.2, 0.5, 1.0};
  Matrix<float> normals_ = random_matrix(kLargest + 1, kLargest, 5);
  std::uint64_t turn_ = 0;
};

/// A field by its definition: in double, the bias first, then the units in ascending order, tempered at last. A unit
/// that is zero adds nothing, be its weight infinite.
inline double defined_field(const State& x, std::size_t row, const Map& map, std::size_t unit) {
  double field = map.bias(0, unit);
  const float* weights = map.transposed.row(unit).data();
  for (std::size_t i = 0; i < x.units(); ++i) {
    if (const double value = x.value(row, i); value != 0.0) field += value * weights[i];
  }
  return map.beta * field + (map.base.rows() > 0 ? (1.0 - map.beta) * double{map.base(0, unit)} : 0.0);
}

/// What `sample` draws, by its definition.
inline State defined_sample(const State& x, const Map& map, const Draw& draw, std::uint64_t first_chain,
                            Levels levels) {
  State out(x.chains(), map.bias.cols(), levels);
  for (std::size_t r = 0; r < x.chains(); ++r) {
    for (std::size_t j = 0; j < out.units(); ++j) {
      const double p = sigmoid(levels.gap() * defined_field(x, r, map, j));
      out.bits().set(r, j, coin(draw, static_cast<std::uint32_t>(first_chain + r), static_cast<std::uint32_t>(j), p));
    }
  }
  return out;
}

/// Draws on each instruction set and compares with the definition: all bits, and the padding beside them.
inline void expect_defined_sample(const State& x, const Map& map, const Draw& draw, std::uint64_t first_chain,
                                  Levels levels) {
  const State truth = defined_sample(x, map, draw, first_chain, levels);
  for_each_target([&] {
    State drawn(x.chains(), truth.units(), levels);
    for (std::size_t j = 0; j < truth.units(); ++j) drawn.bits().set(0, j, true);  // whatever was there before
    sample(x, map, draw, first_chain, drawn, {});
    ASSERT_TRUE(drawn == truth) << x.chains() << " chains, " << x.units() << " inputs, " << truth.units()
                                << " outputs, levels from " << x.levels().low << " and " << levels.low;
  });
}

}  // namespace ergodic::test
