// Parallel tempering (Swendsen and Wang 1986; Geyer 1991): each chain has copies at inverse temperatures
// 1 = beta_1 > ... > beta_K. The hot ones cross barriers; after a sweep of every level by any sampler, neighbouring
// levels i and j swap states with probability min(1, exp((beta_i - beta_j)(E_i - E_j))), which leaves the product of
// all distributions where it is. Pairs (1, 2), (3, 4), ... and (2, 3), (4, 5), ... take turns.
//
// The ladder between its two ends adapts in warm-up until all pairs swap equally often, as Vousden, Farr and Mandel
// (2016) have it, in log beta: a step between neighbours grows if it is crossed more often than the average, and all
// are scaled so that the ends stay.
//
// Levels are layers of the chains: level k of a machine of L layers has those from k L on, and the first is the result.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/tempered.hpp"
#include "ergodic/sampler/chains.hpp"

namespace ergodic {

/// From 1 to the hottest, each the same share of the one before. UsageError for fewer than two levels, or for a hottest
/// that is not between 0 and 1.
std::vector<double> geometric_ladder(std::size_t levels, double hottest);

/// The ladder after a sweep of warm-up, the k-th, that swapped the pairs of neighbours with these probabilities.
std::vector<double> adapted_ladder(std::span<const double> betas, std::span<const double> swapped, std::uint64_t k);

/// A machine at every temperature of a ladder.
template <class Model>
class Replicas {
 public:
  static constexpr std::size_t kLayers = layers_of<Model>();

  Replicas(const Model& machine, std::vector<double> betas, const Context& context)
      : machine_(machine), betas_(std::move(betas)) {
    for (const double beta : betas_) levels_.push_back(tempered(machine_, beta, context));
  }

  const Model& machine() const { return machine_; }
  const std::vector<double>& betas() const { return betas_; }
  std::size_t levels() const { return betas_.size(); }
  const auto& level(std::size_t k) const { return levels_[k]; }

  /// After a sweep of warm-up, as adapted_ladder has it.
  void adapt(const StepInfo& info, std::uint64_t k, const Context& context) {
    betas_ = adapted_ladder(betas_, info.swapped, k);
    std::vector<Level> levels;
    levels.push_back(std::move(levels_.front()));
    for (std::size_t l = 1; l + 1 < betas_.size(); ++l) levels.push_back(tempered(machine_, betas_[l], context));
    levels.push_back(std::move(levels_.back()));
    levels_ = std::move(levels);
  }

 private:
  using Level = decltype(tempered(std::declval<const Model&>(), 1.0, Context{}));
  const Model& machine_;
  std::vector<double> betas_;
  std::vector<Level> levels_;
};

/// A sampler for each level.
template <class Inner>
struct Tempered {
  std::vector<Inner> inner;
};

/// Swaps neighbours, from the first pair on or from the second, given the energies at beta = 1, a row for each level.
/// Returns the probabilities of all pairs.
std::vector<double> swap_neighbours(std::span<const double> betas, Matrix<double> energies, const Draw& draw,
                                    std::size_t first, Chains& chains);

/// One sweep of all levels, then swaps. Chains of one level start every level there.
template <class Inner, class Model>
StepInfo step(const Tempered<Inner>& kernel, const Replicas<Model>& replicas, Chains& chains, Key key,
              const Context& context) {
  constexpr std::size_t kLayers = Replicas<Model>::kLayers;
  const std::size_t levels = replicas.levels();
  while (chains.layers.size() < levels * kLayers) {
    chains.layers.push_back(chains.layers[chains.layers.size() - kLayers]);
  }
  StepInfo info;
  Matrix<double> energies(levels, chains.count());
  for (std::size_t k = 0; k < levels; ++k) {
    // Each level has random numbers of its own: those of other sweeps.
    Chains level{{}, chains.sweep * levels + k, chains.first_chain};
    const auto layers = chains.layers.begin() + static_cast<std::ptrdiff_t>(k * kLayers);
    std::move(layers, layers + kLayers, std::back_inserter(level.layers));
    info.levels.push_back(step(kernel.inner[k], replicas.level(k), level, key, context).accepted);
    std::ranges::copy(joint_energy(replicas.machine(), level.layers, context), energies.row(k).begin());
    std::move(level.layers.begin(), level.layers.end(), layers);
  }
  info.accepted = info.levels[0];
  const Draw draw = key.at(Purpose::kTempering, chains.sweep);
  info.swapped = swap_neighbours(replicas.betas(), std::move(energies), draw, chains.sweep % 2, chains);
  ++chains.sweep;
  return info;
}

/// The samplers of all levels after a sweep of warm-up, the k-th, each as it adapts by itself.
template <class Inner>
Tempered<Inner> adapted(Tempered<Inner> kernel, const StepInfo& info, std::uint64_t k) {
  for (std::size_t l = 0; l < kernel.inner.size(); ++l) {
    kernel.inner[l] = adapted(std::move(kernel.inner[l]), StepInfo{info.levels[l]}, k);
  }
  return kernel;
}

}  // namespace ergodic
