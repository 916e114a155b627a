// How a machine is trained: what the loop and every learner take. A field without a value is left to the machine and
// to the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "ergodic/option/spec.hpp"
#include "ergodic/trainer/centring.hpp"
#include "ergodic/trainer/hidden_penalties.hpp"
#include "ergodic/trainer/optimiser.hpp"

namespace ergodic {

template <>
struct Names<Schedule> {
  static constexpr std::array<Named<Schedule>, 3> kAll{
      {{Schedule::kLinear, "linear", "a straight line down to zero"},
       {Schedule::kCosine, "cosine", "half a cosine wave down to zero"},
       {Schedule::kConstant, "constant", "the same rate to the end"}}};
};

/// Which optimiser steps (optimiser.hpp).
enum class OptimiserKind { kSgd, kAdam, kSpectral };

template <>
struct Names<OptimiserKind> {
  static constexpr std::array<Named<OptimiserKind>, 3> kAll{
      {{OptimiserKind::kSgd, "sgd", "along the gradient, with --momentum if asked for; the fastest update"},
       {OptimiserKind::kAdam, "adam",
        "each parameter in units of its own gradients, by default at a rate of 0.002; 20 bytes more for each weight"},
       {OptimiserKind::kSpectral, "spectral",
        "as far along every direction of the weights, by default at a rate of 0.01; each update takes far longer, so "
        "that "
        "there are a tenth as many by default"}}};
};

/// What a machine with labels learns (Larochelle and Bengio 2008).
enum class Objective {
  kGenerative,      ///< log p(x, y)
  kDiscriminative,  ///< log p(y | x)
  kHybrid,          ///< log p(y | x) + weight * log p(x, y)
};

template <>
struct Names<Objective> {
  static constexpr std::array<Named<Objective>, 3> kAll{
      {{Objective::kGenerative, "generative", "log p(x, y), as other machines learn"},
       {Objective::kDiscriminative, "discriminative", "log p of y given x, by its exact gradient"},
       {Objective::kHybrid, "hybrid", "log p of y given x + W log p(x, y), W being --generative-weight"}}};
};

/// Which state of a run is its result.
enum class Keep { kLast, kBest };

template <>
struct Names<Keep> {
  static constexpr std::array<Named<Keep>, 2> kAll{
      {{Keep::kLast, "last", "the state after the last update"},
       {Keep::kBest, "best",
        "of the states that were recorded, the one that makes held-out rows likeliest: by their likelihood where it is "
        "exact, else by their pseudo-likelihood; of classes by their error, each epoch"}}};
};

struct TrainOptions {
  std::string method = "pcd";
  std::optional<std::uint64_t> steps;
  std::optional<std::uint64_t> final_steps;  ///< of chains that go on: what steps grow to
  std::optional<std::uint64_t> chains;
  std::optional<std::uint64_t> levels;  ///< of tempering
  std::optional<std::uint64_t> batch;
  std::optional<std::uint64_t> updates;  ///< how long training lasts
  std::optional<std::uint64_t> epochs;   ///< the same in passes through the data; only one of the two is given
  std::optional<double> learning_rate;
  Schedule schedule = Schedule::kLinear;
  double average = 0.0;  ///< share of all updates, the last ones, whose parameters are averaged (averaging.hpp)
  OptimiserKind optimiser = OptimiserKind::kSgd;  ///< of a restricted Boltzmann machine
  Sgd sgd;
  Decay decay;
  HiddenPenalty hidden_penalty;
  bool uncentred = false;
  double least_noise = 0.25;  ///< lower bound for real visible units, as a share of the deviations of the data
  Objective objective = Objective::kGenerative;
  std::optional<double> generative_weight;    ///< of the hybrid objective
  std::optional<double> adversarial;          ///< how far rows are moved where p(y | x) is learned (adversary.hpp)
  std::optional<std::uint64_t> record_every;  ///< updates between two records
  double share_of_updates = 1.0;              ///< of those that are the default, by a recipe
  std::optional<Keep> keep;                   ///< nothing: the best of machines that learn classes, else the last
  std::uint64_t patience = 0;  ///< training ends when so many states in a row were no better than the best; 0: never
  bool rescue = false;         ///< whether a run that diverges goes back and on with a lower rate
};

/// The optimiser that the options choose. UsageError if they give a momentum to one that has its own.
Optimiser optimiser_of(const TrainOptions& options);

/// What is taken where the options say nothing; train_defaults.hpp finds it for each kind of machine.
struct TrainDefaults {
  std::uint64_t batch = 100;
  std::uint64_t updates = 20000;
  double learning_rate = 0.05;
  std::uint64_t steps = 1;
};

/// The options with every field filled in, but for `epochs` if they are not given: a batch of all rows if there are
/// fewer than the default, as many chains as the default batch has rows or as the batch has, if these are more, and a
/// record each epoch, but at least each thousand updates and at most about a hundred in all. UsageError if updates and
/// epochs are given and differ.
TrainOptions settled(TrainOptions options, const TrainDefaults& defaults, std::size_t rows);

/// How many sweeps the chains make for each update: more and more, in a straight line from the first update to the
/// last.
struct Sweeps {
  std::uint64_t first = 1, last = 1, updates = 1;

  Sweeps(std::uint64_t always) : first(always), last(always) {}
  /// Those of options that are settled.
  explicit Sweeps(const TrainOptions& options)
      : first(*options.steps), last(options.final_steps.value_or(first)), updates(*options.updates) {}

  std::uint64_t at(std::uint64_t update) const {
    if (update + 1 >= updates) return last;
    return first + (last - first) * update / (updates - 1);
  }
};

// The groups of options, of which each kind of machine takes some.
inline constexpr char kLoopGroup[] = "Training";
inline constexpr char kGradientGroup[] = "Gradient";
inline constexpr char kOptimiserGroup[] = "Optimiser";
inline constexpr char kHiddenUnitsGroup[] = "Hidden units";
inline constexpr char kRealUnitsGroup[] = "Real units";
inline constexpr char kClassesGroup[] = "Classes";

/// All training options, by groups.
const Spec<TrainOptions>& training_spec();

}  // namespace ergodic
