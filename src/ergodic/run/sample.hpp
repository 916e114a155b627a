// Samples of a machine by Markov chains.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/estimator/mixing.hpp"
#include "ergodic/machine/machine.hpp"
#include "ergodic/sampler/sampling.hpp"

namespace ergodic {

/// Where chains start.
struct SampleStart {
  std::uint64_t count = 100;          ///< chains, if there are no rows
  State rows;                         ///< visible states, a row for each chain; empty: an independent start
  Bits fixed;                         ///< one row: the visible units that keep the values of their row; empty: none
  std::uint64_t given_alike = 0;      ///< so many chains in turn have the same values there; 0: not known
  std::vector<std::size_t> labels{};  ///< the class that each chain is given; empty: none
  double sure = 0.0;                  ///< how sure the machine must be of these; 0: as it comes
};

/// Chains of these classes, `each` of every one in turn: their labels stay, and other units start independent.
/// UsageError if the machine has no labels, or not these, or if it has learned from no row of one.
SampleStart labelled_start(const Machine& machine, std::span<const std::size_t> labels, std::uint64_t each, Key key,
                           const Context& context);

/// What simulated annealing found.
struct LowestEnergy {
  double energy = 0.0;
  std::uint64_t chains = 0;  ///< how many came as low, but for rounding
};

struct Samples {
  bool stopped = false;      ///< fewer sweeps than asked for; then there are no states
  std::uint64_t sweeps = 0;  ///< done
  Chains chains;             ///< all layers at the end; if annealed, the lowest states of the first
  State visible;             ///< the last samples: the visible units of the chains
  std::vector<State> draws;  ///< all samples: the visible units after each draw, the last being `visible`
  std::vector<std::vector<double>> energies;  ///< of each draw the energy of each chain, all layers together
  std::vector<SampledLevel> levels;           ///< by tempering, the visible units of all levels at the end
  std::optional<std::uint64_t> unsure;        ///< how many samples are less sure than was asked for
  std::optional<MixingReport> mixing;         ///< nothing if stopped, or annealed
  std::optional<double> accepted;             ///< share of the proposals of the second half, if there are any
  std::vector<double> swapped;                ///< by tempering, how often each level swaps with the next
  std::optional<LowestEnergy> lowest;         ///< if annealed
};

/// Runs chains from their start for options.sweeps sweeps, and on for further draws. Judges whether they have mixed, by
/// the energy, the mean of the visible units and `watched`, and warns if they have not; chains that are given the same
/// are judged together, and the worst of the verdicts is told.
///
/// With start.sure above 0, chains that are given labels go on for up to as many sweeps again, and each sample is the
/// first of several states, looked at with a twentieth of the sweeps between them, that the machine reads as its label
/// with at least this probability: a sample of p(x | y) without the rows of which the machine doubts the label.
Samples sample(const Machine& machine, const SamplingOptions& options, const SampleStart& start,
               const std::vector<WatchedNumber>& watched, Key key, const Context& context);

}  // namespace ergodic
