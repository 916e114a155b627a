// Parallel tempering (Swendsen and Wang 1986; Geyer 1991): each chain has copies on a ladder of machines with energies
// E_1, ..., E_K, of which the first is the one asked for and the last mixes fast. After a sweep of every level by any
// sampler, neighbouring levels i and j with states x_i and x_j swap them with probability
//   min(1, exp(E_i(x_i) + E_j(x_j) - E_i(x_j) - E_j(x_i))),
// which leaves the product of all distributions where it is. Pairs (1, 2), (3, 4), ... and (2, 3), (4, 5), ... take
// turns. There are two ladders:
//
// Replicas, one machine at inverse temperatures 1 = beta_1 > ... > beta_K. Between its two ends it adapts in warm-up
// until all pairs swap equally often, as Vousden, Farr and Mandel (2016) have it, in log beta: a step between
// neighbours grows if it is crossed more often than the average, and all are scaled so that the ends stay. A ladder
// down to beta = 0 adapts in beta itself.
//
// Stations, other machines of the same shape: those that training met, from the last to the first (Béreux, Decelle,
// Furtlehner, Rosset and Seoane 2024). They learned the valleys of the energy one after the other, where heat melts all
// at once. Those that are not needed for swaps are left out.
//
// Levels are layers of the chains: level k of a machine of L layers has those from k L on, and the first is the result.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/temperature.hpp"
#include "ergodic/sampler/chains.hpp"

namespace ergodic {

/// Inverse temperatures from 1 to the hottest, each the same share of the one before. UsageError for fewer than two
/// levels, or for a hottest that is not between 0 and 1.
std::vector<double> geometric_ladder(std::size_t levels, double hottest);

/// The ladder after a sweep of warm-up, the k-th, that swapped the pairs of neighbours with these probabilities.
std::vector<double> adapted_ladder(std::span<const double> betas, std::span<const double> swapped, std::uint64_t k);

/// The layers of one of so many levels.
inline std::span<const State> layers_at(std::size_t level, std::size_t levels, std::span<const State> layers) {
  const std::size_t each = layers.size() / levels;
  return layers.subspan(level * each, each);
}

/// Starts every level where the first one is, so that there are so many layers in all.
inline void start_levels(std::size_t layers, Chains& chains) {
  for (std::size_t k = 0; chains.layers.size() < layers; ++k) chains.layers.push_back(chains.layers[k]);
}

/// (beta_i - beta_j)(E(x_i) - E(x_j)) for each level i with the next, a row for each pair and a column for each chain,
/// given a function that finds the energies E of all chains of a level.
template <class EnergiesOf>
Matrix<double> exponents_of_swaps(std::span<const double> betas, const EnergiesOf& energies_of) {
  std::vector<double> cold = energies_of(0);
  Matrix<double> out(betas.size() - 1, cold.size());
  for (std::size_t k = 0; k + 1 < betas.size(); ++k) {
    std::vector<double> hot = energies_of(k + 1);
    for (std::size_t r = 0; r < hot.size(); ++r) out(k, r) = (betas[k] - betas[k + 1]) * (cold[r] - hot[r]);
    cold = std::move(hot);
  }
  return out;
}

/// A machine at every temperature of a ladder.
template <class Model>
class Replicas {
 public:
  Replicas(const Model& machine, std::vector<double> betas, const Context& context)
      : machine_(machine), betas_(std::move(betas)) {
    for (const double beta : betas_) levels_.push_back(at_temperature(machine_, beta, context));
  }

  const std::vector<double>& betas() const { return betas_; }
  std::size_t levels() const { return betas_.size(); }
  std::size_t layers() const { return machine_.layers().size(); }  ///< of each level
  std::size_t most_levels() const { return levels(); }
  const auto& level(std::size_t k) const { return levels_[k]; }

  Matrix<double> swap_exponents(const Chains& chains, const Context& context) const {
    return exponents_of_swaps(
        betas_, [&](std::size_t k) { return machine_.energy(layers_at(k, levels(), chains.layers), context); });
  }

  /// After a sweep of warm-up, as adapted_ladder has it.
  void adapt(const StepInfo& info, std::uint64_t k, const Context& context) {
    betas_ = adapted_ladder(betas_, info.swapped, k);
    std::vector<Level> levels;
    levels.push_back(std::move(levels_.front()));
    for (std::size_t l = 1; l + 1 < betas_.size(); ++l) levels.push_back(at_temperature(machine_, betas_[l], context));
    levels.push_back(std::move(levels_.back()));
    levels_ = std::move(levels);
  }

 private:
  using Level = decltype(at_temperature(std::declval<const Model&>(), 1.0, Context{}));
  const Model& machine_;
  std::vector<double> betas_;
  std::vector<Level> levels_;
};

/// The fewest levels that keep every swap rate above 25 %, given how often each swaps with the next; the first and the
/// last always stay. How often levels further apart would swap is taken to be the product of the rates between them.
std::vector<std::size_t> enough_levels(std::span<const double> swapped);

/// Machines of one shape, the first of which is the one asked for.
template <class Model>
class Stations {
 public:
  explicit Stations(std::vector<Model> machines) : machines_(std::move(machines)), used_(machines_.size()) {
    std::iota(used_.begin(), used_.end(), std::size_t{0});
  }

  std::size_t levels() const { return used_.size(); }
  std::size_t layers() const { return machines_[0].layers().size(); }  ///< of each level
  std::size_t most_levels() const { return machines_.size(); }
  const Model& level(std::size_t k) const { return machines_[used_[k]]; }

  /// Leaves out all levels but these.
  void keep(std::span<const std::size_t> levels) {
    for (std::size_t k = 0; k < levels.size(); ++k) used_[k] = used_[levels[k]];
    used_.resize(levels.size());
  }

  /// E_i(x_i) + E_j(x_j) - E_i(x_j) - E_j(x_i), as for replicas.
  Matrix<double> swap_exponents(const Chains& chains, const Context& context) const {
    Matrix<double> out(levels() - 1, chains.count());
    const auto energies = [&](std::size_t of, std::size_t at) {
      return level(of).energy(layers_at(at, levels(), chains.layers), context);
    };
    std::vector<double> own = energies(0, 0);
    for (std::size_t k = 0; k + 1 < levels(); ++k) {
      std::vector<double> next = energies(k + 1, k + 1);
      const std::vector<double> up = energies(k, k + 1), down = energies(k + 1, k);
      for (std::size_t r = 0; r < own.size(); ++r) out(k, r) = own[r] - up[r] + (next[r] - down[r]);
      own = std::move(next);
    }
    return out;
  }

 private:
  std::vector<Model> machines_;
  std::vector<std::size_t> used_;
};

/// A sampler for each level.
template <class Inner>
struct Tempered {
  std::vector<Inner> inner;
};

/// Swaps neighbours, from the first pair on or from the second, given the exponents of all pairs. Returns their
/// probabilities, averaged over chains.
std::vector<double> swap_neighbours(const Matrix<double>& exponents, const Draw& draw, std::size_t first,
                                    Chains& chains);

/// One sweep of all levels, then swaps. Chains of one level start every level there.
template <class Inner, class Ladder>
StepInfo step(const Tempered<Inner>& kernel, const Ladder& ladder, Chains& chains, Key key, const Context& context) {
  const std::size_t levels = ladder.levels(), each = ladder.layers();
  start_levels(levels * each, chains);
  StepInfo info;
  for (std::size_t k = 0; k < levels; ++k) {
    // Each level has random numbers of its own: those of other sweeps.
    Chains level{{}, chains.sweep * ladder.most_levels() + k, chains.first_chain};
    const auto layers = chains.layers.begin() + static_cast<std::ptrdiff_t>(k * each);
    std::move(layers, layers + static_cast<std::ptrdiff_t>(each), std::back_inserter(level.layers));
    info.levels.push_back(step(kernel.inner[k], ladder.level(k), level, key, context).accepted);
    std::move(level.layers.begin(), level.layers.end(), layers);
  }
  info.accepted = info.levels[0];
  const Draw draw = key.at(Purpose::kTempering, chains.sweep);
  info.swapped = swap_neighbours(ladder.swap_exponents(chains, context), draw, chains.sweep % 2, chains);
  ++chains.sweep;
  return info;
}

/// Leaves out all levels but these.
template <class Inner, class Model>
void keep_levels(std::span<const std::size_t> kept, Tempered<Inner>& kernel, Stations<Model>& stations,
                 Chains& chains) {
  const std::size_t each = stations.layers();
  Tempered<Inner> inner;
  std::vector<State> layers;
  for (const std::size_t k : kept) {
    inner.inner.push_back(std::move(kernel.inner[k]));
    for (std::size_t l = 0; l < each; ++l) layers.push_back(std::move(chains.layers[k * each + l]));
  }
  kernel = std::move(inner);
  chains.layers = std::move(layers);
  stations.keep(kept);
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
