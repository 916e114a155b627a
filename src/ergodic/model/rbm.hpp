// Restricted Boltzmann machine (Smolensky 1986; Hinton 2002):
//   E(x, v) = -x'Wv - b'x - c'v + U(x) + U(v),   p(x, v) = exp(-E)/Z,   F(x) = -log sum_v exp(-E(x, v)),
// where U is what real units have beside their fields (layer.hpp). Given one layer the units of the other are
// independent, so both conditionals are exact and cheap.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/kernels/couplings.hpp"
#include "ergodic/kernels/products.hpp"
#include "ergodic/model/concepts.hpp"
#include "ergodic/model/layer.hpp"
#include "ergodic/model/parameters.hpp"

namespace ergodic {

/// What a layer is on average, a row for each chain: the values of its units and, if they are real, their squares.
struct Moments {
  Matrix<float> means;
  Matrix<float> squares;
};
/// The moments of states that are known.
Moments moments_of(const State& state);

/// All pairs of some visible units and some hidden ones.
struct UnitPairs {
  std::size_t first_row = 0, rows = 0;        ///< visible
  std::size_t first_column = 0, columns = 0;  ///< hidden
};

/// What sets a machine apart whose layers are each made of several (deep_boltzmann.hpp).
struct Structure {
  std::size_t observed = 0;          ///< so many visible units are set by data, the first ones; the others are hidden
  std::vector<UnitPairs> coupled;    ///< pairs with weights of their own; none: all
  std::vector<UnitPairs> uncoupled;  ///< the others, whose weights stay zero
};

class Rbm {
 public:
  /// The blocks that Gibbs sampling resamples in turn; also the order of the layers in Chains.
  static constexpr std::size_t kVisible = 0;
  static constexpr std::size_t kHidden = 1;

  /// A machine with all parameters zero. UsageError for two real layers: coupled strongly enough they have no
  /// distribution, and training would not know.
  Rbm(Layer visible, Layer hidden);
  Rbm(Layer visible, Layer hidden, Structure structure);

  const Structure& structure() const { return structure_; }
  std::span<const Layer> layers() const { return layers_; }
  const Layer& layer(std::size_t block) const { return layers_[block]; }
  const Layer& visible() const { return layers_[kVisible]; }
  const Layer& hidden() const { return layers_[kHidden]; }

  const Parameters& parameters() const { return parameters_; }
  /// The slot of the log precisions of a real layer.
  static const char* precision_slot(std::size_t block) {
    return block == kVisible ? "visible_log_precision" : "hidden_log_precision";
  }
  MatrixView<const float> weights() const;  ///< [visible, hidden]
  std::span<const float> visible_bias() const { return parameters_["visible_bias"]; }
  std::span<const float> hidden_bias() const { return parameters_["hidden_bias"]; }
  /// The precisions of a real layer; empty for others.
  Precision precision(std::size_t block) const;

  /// Changes the parameters through edit(Parameters&), then renews what is derived from them.
  template <class Edit>
  void update(const Edit& edit, const Context& context) {
    edit(parameters_);
    renew(context);
  }

  /// The same, but what is derived is renewed when it is needed: for a machine of which perhaps only the parameters are
  /// asked for, as when it is read from a file.
  template <class Edit>
  void set(const Edit& edit) {
    edit(parameters_);
    couplings_.forget();
    renew_deviations();
  }

  /// Changes the parameters by an edit that goes through all the weights by blocks: edit(Parameters&, done) calls
  /// done(row, column) after each of the blocks of Couplings::kBlock rows and columns.
  template <class Edit>
  void update_by_blocks(const Edit& edit, const Context& context) {
    Couplings& couplings = stale_couplings();
    edit(parameters_, [&](std::size_t row, std::size_t column) { couplings.renew_block(weights(), row, column); });
    finish_update(couplings, context);
  }

  /// A state of one layer, as layer.hpp has it.
  State make_state(std::size_t block, std::size_t chains) const { return ergodic::make_state(layer(block), chains); }

  /// E(x, v) for each chain, given both layers.
  std::vector<double> energy(LayerStates layers, const Context& context) const;
  /// Whether all energies are linear in the parameters: not in the log precisions of real units.
  bool linear() const { return !real_valued(visible()) && !real_valued(hidden()); }
  /// F(x) for each row, up to -log Z: log p(x) = -F(x) - log Z.
  std::vector<double> free_energy(const State& visible, const Context& context) const;
  /// -dF/dx_i = b_i - gamma_i x_i + sum_j W_ij E[v_j | x], a row for each row of x. UsageError unless the visible units
  /// are gaussian.
  Matrix<double> free_energy_forces(const State& x, const Context& context) const;
  /// log p(x_s | the other sites of x): in row r, for each s of sites(r, ...). Not for real units. Costs far less than
  /// free energies anew.
  Matrix<double> site_log_probabilities(const State& visible, const Matrix<std::uint32_t>& sites,
                                        const Context& context) const;

  /// The visible layer drawn from its biases, as if there were no weights.
  State draw_uncoupled(std::size_t count, const Draw& draw, std::uint64_t first_chain) const;
  /// The machine at inverse temperature beta (temperature.hpp).
  Rbm at_temperature(double beta, const Context& context) const;

  /// Resamples one layer given the other. Row r draws the random numbers of chain first_chain + r.
  void resample(std::size_t block, std::span<State> layers, const Draw& draw, std::uint64_t first_chain,
                const Context& context) const;
  /// The same, and the means that it is drawn with; for a machine with real units.
  void resample_with_means(std::size_t block, std::span<State> layers, const Draw& draw, std::uint64_t first_chain,
                           MatrixView<float> means, const Context& context) const;
  /// The means alone.
  void find_float_means(std::size_t block, const State& given, MatrixView<float> means, const Context& context) const;
  /// A draw in which visible units whose bit in `fixed` is set stay as they are; hidden units are always drawn. `fixed`
  /// has one row for all chains, or a row for each; UsageError for any other shape, and for a part of a site.
  void resample_given(const Bits& fixed, std::size_t block, std::span<State> layers, const Draw& draw,
                      std::uint64_t first_chain, const Context& context) const;
  /// E[layer | the other layer], a row for each chain.
  Matrix<float> conditional_means(std::size_t block, const State& given, const Context& context) const;

  /// The moments of a layer given the other layer.
  Moments conditional_moments(std::size_t block, const State& given, const Context& context) const;

  /// Adds row_weight * -dE/dtheta over the rows, given states of one layer and what the other is on average: x v' for
  /// the weights, x and v for the biases, -gamma x^2 / 2 for the log of a precision. One row weight, or one for each
  /// row.
  void add_statistics(std::size_t block, const State& states, const Moments& other, std::span<const double> row_weights,
                      Statistics& out, const Context& context) const;

  /// The map from the other layer to this block's fields.
  Affine map_to(std::size_t block) const;

 private:
  const Couplings& couplings() const;
  Couplings empty_couplings() const;
  /// To be renewed: those of other weights, or empty ones.
  Couplings& stale_couplings();
  void renew(const Context& context);
  void renew_deviations();
  void finish_update(Couplings& couplings, const Context& context);

  std::array<Layer, 2> layers_;
  Structure structure_;
  Parameters parameters_;
  Derived<Couplings> couplings_;
  std::array<std::vector<double>, 2> deviations_;  // of real units, derived too
};

/// A machine of two-valued units in other units, with the same distribution: x = scale x' + shift on each side, in
/// double.
/// E(x, v) = E'(x', v') + offset.
struct Rewritten {
  Matrix<double> weights;
  std::vector<double> visible_bias;
  std::vector<double> hidden_bias;
  double energy_offset = 0.0;
};
Rewritten rewrite(const Rbm& rbm, Levels visible, Levels hidden);

/// The machine with other unit types and the same distribution, for example {0,1} as +-1, rounded to float.
Rbm with_units(const Rbm& rbm, const Layer& visible, const Layer& hidden);

// Declared with the model, since a template that asks whether they exist (SimulatorOf) must get the same answer in
// every file.
/// UsageError if the smaller layer is larger than exact_statistics enumerates (exact_rbm.hpp).
void require_exact_statistics(const Rbm& rbm);
/// The model's expectation of the statistics, by enumeration of the smaller layer.
Statistics exact_statistics(const Rbm& rbm, const Context& context);

}  // namespace ergodic
