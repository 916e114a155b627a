// How a machine is trained: what the loop and every learner take. A field without a value is left to the machine and
// to the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "ergodic/option/spec.hpp"
#include "ergodic/trainer/centring.hpp"
#include "ergodic/trainer/optimiser.hpp"

namespace ergodic {

template <>
struct Names<Schedule> {
  static constexpr std::array<Named<Schedule>, 3> kAll{
      {{Schedule::kLinear, "linear", "a straight line down to zero"},
       {Schedule::kCosine, "cosine", "half a cosine wave down to zero"},
       {Schedule::kConstant, "constant", "the same rate to the end"}}};
};

struct TrainOptions {
  std::string method = "pcd";
  std::uint64_t steps = 1;
  std::optional<std::uint64_t> chains;
  std::optional<std::uint64_t> batch;
  std::optional<std::uint64_t> epochs;
  std::optional<double> learning_rate;
  Schedule schedule = Schedule::kLinear;
  Sgd sgd;
  Decay decay;
  bool uncentred = false;
  double least_noise = 0.25;  ///< lower bound for real visible units, as a share of the deviations of the data
  std::optional<std::uint64_t> record_every;  ///< epochs between two records
};

/// What a kind of machine takes where the options say nothing.
struct TrainDefaults {
  std::uint64_t batch = 100;
  std::uint64_t epochs = 20;
  double learning_rate = 0.05;
};

/// The options with every field filled in: a batch of all rows if there are fewer than the default, as many chains as
/// the batch has rows, and about a hundred records of a long run.
TrainOptions settled(TrainOptions options, const TrainDefaults& defaults, std::size_t rows);

// The groups of options, of which each kind of machine takes some.
inline constexpr char kLoopGroup[] = "Training";
inline constexpr char kGradientGroup[] = "Gradient";
inline constexpr char kRealUnitsGroup[] = "Real units";

/// All training options, by groups.
const Spec<TrainOptions>& training_spec();

}  // namespace ergodic
