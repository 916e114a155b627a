// Boltzmann machine (Ackley, Hinton and Sejnowski 1985): two-valued units coupled along the edges of any graph,
//   E(x) = -sum over edges {i, j} of w_ij x_i x_j - b'x,   p(x) = exp(-E)/Z.
// Given all others a unit is high with probability sigmoid(gap I), I = b_i + sum_j w_ij x_j. The same energy over the
// letters of sites is the pairwise Potts machine, see potts_graph.hpp. The first units are visible, any others hidden.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ergodic/core/bits.hpp"
#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/kernels/products.hpp"
#include "ergodic/kernels/quantised.hpp"
#include "ergodic/model/concepts.hpp"
#include "ergodic/model/graph.hpp"
#include "ergodic/model/graph_sweep.hpp"
#include "ergodic/model/layer.hpp"
#include "ergodic/model/parameters.hpp"
#include "ergodic/model/potts_graph.hpp"

namespace ergodic {

/// What a machine on a dense graph costs: couplings in float, and square matrices of them in float and, of two-valued
/// units, in 16 bits, by which it is sampled.
struct DenseMemory {
  std::uint64_t couplings = 0;       ///< pairs of units
  std::uint64_t coupling_bytes = 0;  ///< bytes of the couplings
  std::uint64_t matrix_entries = 0;  ///< entries of a square matrix
  std::uint64_t matrix_bytes = 0;    ///< bytes of the float and the 16-bit matrix

  std::uint64_t bytes() const { return coupling_bytes + matrix_bytes; }
};
/// For a number of units up to Graph::kMaxUnits; with letters, if these are sites of so many units each.
DenseMemory memory_of_dense(std::size_t units, std::size_t letters = 0);
/// What the square matrices may take: 2 GiB, which is 18,900 two-valued units, or 23,100 letters.
inline constexpr std::uint64_t kMaxMatrixBytes = std::uint64_t{1} << 31;

class Boltzmann {
 public:
  /// A machine with all parameters zero and all units visible. UsageError for real units, for a graph of another number
  /// of units, for edges between letters of one site, and for a dense graph whose matrices take more than
  /// kMaxMatrixBytes.
  Boltzmann(Layer units, Graph graph);
  /// A machine with only the first units visible; they are whole sites.
  Boltzmann(Layer units, Graph graph, std::size_t visible);

  /// All units are one layer, which Gibbs sampling sweeps over.
  std::span<const Layer> layers() const { return {&units_, 1}; }
  const Layer& units() const { return units_; }
  /// How many units are visible: the first ones.
  std::size_t visible() const { return visible_; }
  Layer visible_layer() const { return make_layer(name_of(units_), visible_, letters_of(units_)); }
  /// The hidden units, of which there must be some.
  Layer hidden_layer() const { return make_layer(name_of(units_), hidden(), letters_of(units_)); }
  std::size_t hidden() const { return units_of(units_) - visible_; }
  const Graph& graph() const { return graph_; }
  const Parameters& parameters() const { return parameters_; }
  std::span<const float> couplings() const { return parameters_["couplings"]; }  ///< [edges], as the graph has them
  std::span<const float> bias() const { return parameters_["bias"]; }            ///< [units]

  /// Changes the parameters through edit(Parameters&), then renews what is derived from them.
  template <class Edit>
  void update(const Edit& edit, const Context& context) {
    edit(parameters_);
    renew(forms_.value([this] { return empty_forms(); }), context);
  }

  /// The same, but what is derived is renewed when it is needed: for a machine of which perhaps only the parameters are
  /// asked for, as when it is read from a file.
  template <class Edit>
  void set(const Edit& edit) {
    edit(parameters_);
    forms_.forget();
  }

  /// A state with all units low, or all sites at their first letter.
  State make_state(std::size_t chains) const { return ergodic::make_state(units_, chains); }

  /// The visible units of a state alone.
  State visible_part(const State& x) const;

  /// E(x) for each chain.
  std::vector<double> energy(LayerStates x, const Context& context) const;
  /// Energies are linear in the parameters.
  static constexpr bool linear() { return true; }
  /// I of a unit in a chain.
  double field(const State& x, std::size_t chain, std::size_t unit) const;
  /// The sum over units, or sites, of log p(x_i | all others) for each row (Besag 1975).
  std::vector<double> pseudo_log_likelihood(const State& x, const Context& context) const;
  /// log p(x_i | all others) of each unit, or site, a row for each row of x.
  Matrix<double> site_log_probabilities(const State& x, const Context& context) const;

  /// All units drawn from their biases, as if there were no couplings.
  State draw_uncoupled(std::size_t count, const Draw& draw, std::uint64_t first_chain) const;
  /// The machine at inverse temperature beta (temperature.hpp).
  Boltzmann at_temperature(double beta, const Context& context) const;

  /// One sweep over all units: one after the other on a dense graph, by colours on others; sites one after the other.
  /// Row r draws the random numbers of chain first_chain + r. The block is 0.
  void resample(std::size_t block, std::span<State> layers, const Draw& draw, std::uint64_t first_chain,
                const Context& context) const;
  /// A sweep in which units whose bit in `fixed` is set stay as they are. `fixed` has one row for all chains, or a row
  /// for each; UsageError for any other shape, and for a part of a site.
  void resample_given(const Bits& fixed, std::size_t block, std::span<State> layers, const Draw& draw,
                      std::uint64_t first_chain, const Context& context) const;

  /// Adds row_weight * -dE/dtheta over the rows: x_i x_j for the couplings, x for the biases. One row weight, or one
  /// for each row.
  void add_statistics(const State& x, std::span<const double> row_weights, Statistics& out,
                      const Context& context) const;
  /// Adds row_weight * the derivatives of the pseudo-log-likelihood over the rows: x_i - E[x_i | all others] for the
  /// biases; that times x_j, and the same the other way round, for the couplings.
  void add_pseudo_statistics(const State& x, std::span<const double> row_weights, Statistics& out,
                             const Context& context) const;

 private:
  /// The forms of the parameters by which units are drawn.
  struct Forms {
    // Of two-valued units:
    Colours colours;  // of a graph that is not dense
    AlignedVector<ThresholdTable> thresholds;
    Matrix<float> matrix;        // of a dense one: all couplings, symmetric, with a zero diagonal
    QuantisedWeights quantised;  // the same in 16 bits
    // Of letters:
    Matrix<float> site_rows;  // of a dense graph
  };
  const Forms& forms() const;
  Forms empty_forms() const;
  void renew(Forms& forms, const Context& context) const;

  GraphFields fields() const { return {graph_, couplings(), bias()}; }
  Affine map() const { return {forms().matrix, forms().matrix, bias(), &forms().quantised}; }  ///< for a dense graph
  template <class F>
  void for_fields_of(const State& x, const Context& context, const F& f) const;
  template <class F>
  void for_site_logs(const State& x, const Context& context, const F& f) const;
  bool has_sites() const { return letters_of(units_) > 0; }
  SiteFields site_fields() const {
    return {Potts{units_of(units_), letters_of(units_)}, graph_, sites_, couplings(), bias(), forms().site_rows};
  }
  void sweep(State& x, FixedUnits fixed, const Draw& draw, std::uint64_t first_chain, const Context& context) const;

  Layer units_;
  Graph graph_;
  std::size_t visible_;
  Graph sites_{1};  // of letters
  Parameters parameters_;
  Derived<Forms> forms_;
};

// Declared with the model, since a template that asks whether they exist (SimulatorOf) must get the same answer in
// every file.
/// UsageError if there are more states than exact_statistics enumerates (exact_boltzmann.hpp).
void require_exact_statistics(const Boltzmann& machine);
/// The machine's expectation of the statistics: of x_i x_j along the edges, and of x; by enumeration of all states.
Statistics exact_statistics(const Boltzmann& machine, const Context& context);

}  // namespace ergodic
