// MixingWatch: have the chains of a sampling run mixed? Records some numbers along some of the chains and diagnoses
// them.
//
// The first half of a run is warm-up and not looked at. A free energy costs a few sweeps of its chain, so only a few
// chains are watched, and not at every sweep of a long run. Watching draws no random numbers and changes no chain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/estimator/diagnostics.hpp"
#include "ergodic/model/concepts.hpp"
#include "ergodic/sampler/chains.hpp"

namespace ergodic {

/// A number of each chain. May refer to a model.
struct WatchedNumber {
  std::string name;
  std::function<std::vector<double>(LayerStates x, const Context& context)> of;
};
/// How likely a model finds a state: marginal_energy.
template <EnergyModel Model>
WatchedNumber watched_energy(const Model& model) {
  return {MarginalModel<Model> ? "free energy" : "energy",
          [&model](LayerStates x, const Context& context) { return marginal_energy(model, x, context); }};
}
/// The mean of the visible units, which are the first of the first layer: of {0,1} units and of letters the activity,
/// the share that is on; of spins the magnetisation, in [-1, 1].
WatchedNumber watched_mean(const Layer& visible);
/// The sum over the first units of the first layer of weight * value.
WatchedNumber watched_sum(std::vector<float> weights);
/// Sums over the first units of the first layer along the leading left singular vectors of their weights to hidden
/// units, which training turns towards what sets the classes of the data apart (Decelle, Fissore and Furtlehner 2017).
std::vector<WatchedNumber> watched_directions(MatrixView<const float> weights);
/// What is watched of every model: its energy, first, and the mean of its visible units; and of one whose visible units
/// are coupled to hidden ones by a matrix, the directions of that.
template <EnergyModel Model>
std::vector<WatchedNumber> watched_numbers(const Model& model) {
  const Layer visible = visible_layer(model);
  std::vector<WatchedNumber> out{watched_energy(model), watched_mean(visible)};
  if constexpr (requires { model.weights().row(0); }) {
    const MatrixView<const float> all = model.weights();
    const MatrixView<const float> weights(all.data(), units_of(visible), all.cols());
    for (WatchedNumber& direction : watched_directions(weights)) out.push_back(std::move(direction));
  }
  return out;
}

struct MixingReport {
  struct Quantity {
    std::string name;
    Diagnosis diagnosis;  ///< its autocorrelation time in sweeps; if bounded, too long by at most every - 1
    Verdict verdict;
  };

  std::size_t chains = 0;   ///< watched, the first of the run
  std::size_t draws = 0;    ///< recorded of each
  std::uint64_t every = 0;  ///< sweeps from one draw to the next
  bool bounded = false;     ///< whether times from so few draws are known to be too long, never too short
  std::vector<Quantity> quantities;
  Verdict verdict;  ///< on all of them
};

class MixingWatch {
 public:
  /// For a run of so many chains and sweeps. `bounded`: by block Gibbs sampling of two layers, whose correlations fall
  /// with the lag (docs/math.md).
  MixingWatch(std::vector<WatchedNumber> numbers, std::size_t chains, std::uint64_t sweeps, bool bounded);

  /// To be called after each sweep; records if it is time.
  void look(const Chains& chains, const Context& context);

  /// After the last sweep. Chains that all started at one state (`alike`) may agree without having mixed, and are not
  /// known to have.
  MixingReport report(bool alike = false) const;

 private:
  bool too_short() const;

  std::vector<WatchedNumber> numbers_;
  bool bounded_;
  std::uint64_t sweeps_;
  std::uint64_t warm_up_;
  std::uint64_t every_;
  std::size_t watched_;  // chains
  std::size_t draws_;
  std::vector<Matrix<double>> traces_;  // of each number: a row for each chain, a column for each draw
  std::size_t recorded_ = 0;
};

/// The report of a run that tells nothing, and why.
MixingReport not_judged(std::string reason);

/// Whether all chains are at one state.
bool all_alike(const State& x);

/// How far the number that is mixed worst is from the thresholds: "R-hat 2.2, should be below 1.01". Empty if none is.
std::string worst_of(const MixingReport& report);

/// The verdict on samples as one line with what to do. `tempered`: tempering is in use already.
std::string sentence(const MixingReport& report, bool tempered = false);

}  // namespace ergodic
