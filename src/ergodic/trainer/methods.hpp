// The training methods: one row for each negative phase. --method, its help, files and tests follow from the row.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/trainer/negative_phase.hpp"
#include "ergodic/trainer/train_options.hpp"

namespace ergodic {

struct Method {
  std::string_view name;  ///< after --method
  std::string_view help;  ///< a line for --help
  /// For options that are settled.
  std::unique_ptr<NegativePhase> (*make)(const Simulator& model, const TrainOptions& options, Key key,
                                         const Context& context);
  bool persistent = false;  ///< whether its chains go on from update to update
};

extern const Method kPersistentChains;
extern const Method kPopulation;
extern const Method kFastWeights;
extern const Method kTemperedChains;
extern const Method kContrastiveDivergence;
extern const Method kExactGradient;
extern const Method kPseudoLikelihood;

/// All of them, the default first.
std::span<const Method> methods();
/// One more, for a program with a method of its own; before anything else runs.
void add_method(const Method& method);
/// UsageError that lists the names if there is none of this one.
const Method& method_named(std::string_view name);

}  // namespace ergodic
