// Simulated annealing (Kirkpatrick, Gelatt and Vecchi 1983): any sampler while the machine is cooled, in search of a
// state of lowest energy. beta grows geometrically from the first sweep to the last.
//
// The states are no samples of any distribution. What counts is the lowest that each chain has seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/elementary.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/temperature.hpp"
#include "ergodic/sampler/chains.hpp"

namespace ergodic {

template <class Inner>
struct Annealed {
  Inner inner = {};
  std::uint64_t sweeps = 1000;  ///< in all
  double first = 0.1;           ///< beta of the first sweep
  double last = 10.0;           ///< and of the last

  double beta(std::uint64_t sweep) const {
    const double share = sweeps > 1 ? static_cast<double>(sweep) / static_cast<double>(sweeps - 1) : 1.0;
    return first * portable_exp(share * portable_log(last / first));
  }
};

/// The layers of each chain where its energy was lowest.
struct Lowest {
  std::vector<State> layers;
  std::vector<double> energies;  ///< joint energies of all layers
};

/// A sweep at the temperature of its number.
template <class Inner, class Model>
StepInfo step(const Annealed<Inner>& kernel, const Model& model, Chains& chains, Key key, const Context& context) {
  const auto machine = at_temperature(model, kernel.beta(chains.sweep), context);
  return step(kernel.inner, machine, chains, key, context);
}

/// The inner sampler adapted to the temperature, which goes on changing: so its steps never stop to adapt.
template <class Inner>
Annealed<Inner> adapted(Annealed<Inner> kernel, const StepInfo& info, std::uint64_t k) {
  constexpr std::uint64_t kLastGain = 24;  // 1/5
  kernel.inner = adapted(std::move(kernel.inner), info, k < kLastGain ? k : kLastGain);
  return kernel;
}

/// Keeps the states of the chains that are lower than those kept, and all of them at first.
template <class Model>
void keep_lowest(const Model& model, const Chains& chains, Lowest& lowest, const Context& context) {
  const std::vector<double> energies = model.energy(chains.layers, context);
  if (lowest.layers.empty()) lowest = {chains.layers, energies};
  for (std::size_t r = 0; r < energies.size(); ++r) {
    if (!(energies[r] < lowest.energies[r])) continue;
    lowest.energies[r] = energies[r];
    for (std::size_t l = 0; l < chains.layers.size(); ++l) lowest.layers[l].set_row(r, chains.layers[l], r);
  }
}

/// All sweeps, from where the chains are.
template <class Inner, class Model>
Lowest anneal(Annealed<Inner> kernel, const Model& model, Chains& chains, Key key, const Context& context) {
  Lowest lowest;
  while (chains.sweep < kernel.sweeps && !context.stop_requested()) {
    const std::uint64_t sweep = chains.sweep;
    kernel = adapted(std::move(kernel), step(kernel, model, chains, key, context), sweep);
    keep_lowest(model, chains, lowest, context);
    context.progress({chains.sweep, kernel.sweeps});
  }
  return lowest;
}

}  // namespace ergodic
