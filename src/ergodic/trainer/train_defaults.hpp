// What training takes where the options say nothing: one rule for each kind of machine. The numbers are those of
// experiments (docs/decisions/default-training.md).
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "ergodic/data/dataset.hpp"
#include "ergodic/model/layer.hpp"
#include "ergodic/trainer/train_options.hpp"

namespace ergodic {

/// What the defaults depend on.
struct TrainingCase {
  std::string_view method;
  const Dataset& data;        ///< what is learned from
  std::vector<Layer> layers;  ///< of the machine
  std::size_t parameters = 0;
  Objective objective = Objective::kGenerative;
  OptimiserKind optimiser = OptimiserKind::kSgd;
};

/// A rule, and the same in words for --help.
struct TrainRule {
  TrainDefaults (*find)(const TrainingCase&) = [](const TrainingCase&) { return TrainDefaults{}; };
  std::string_view batch = "100", updates = "20000", learning_rate = "0.05", steps = "1";
};

/// Restricted Boltzmann machines. Units that covary strongly make large gradients, and many hidden units add theirs up:
/// both want a lower rate. Small machines can afford more updates and more sweeps for each.
TrainDefaults rbm_defaults(const TrainingCase& now);
inline constexpr TrainRule kRbmRule{
    rbm_defaults, "100, by exact gradients 1000",
    "30000, fewer from 150000 parameters on, down to 12000; of real units 10000, by exact gradients 3000",
    "0.05 or so: lower if units covary strongly or if hidden units are many; by exact gradients 40 times as much, "
    "2 at most",
    "1; of persistent chains up to 10 if the machine has fewer than 100000 parameters"};

/// Class RBMs: as others if they learn p(x, y), else by passes through the data.
TrainDefaults class_rbm_defaults(const TrainingCase& now);
inline constexpr TrainRule kClassRbmRule{class_rbm_defaults, "100, by exact gradients 1000",
                                         "as of an RBM; unless the objective is generative 50 passes, at least 3000",
                                         "as of an RBM; unless the objective is generative 8, or less if the variances "
                                         "of all inputs add up to more than 200",
                                         kRbmRule.steps};

/// Machines on graphs, which are slower for each parameter.
TrainDefaults graph_defaults(const TrainingCase& now);
inline constexpr TrainRule kGraphRule{
    graph_defaults, "100, by exact gradients 1000",
    "20000, fewer from 200000 parameters on, down to 1000; by exact gradients 3000",
    "0.4 over the root of the neighbours of a unit, 0.05 to 0.2; by exact gradients 0.5", "1"};

/// Neural energies, by Adam.
inline constexpr TrainRule kNeuralRule{[](const TrainingCase&) {
                                         return TrainDefaults{250, 2400, 0.01, 1};
                                       },
                                       "250", "2400", "0.01", "1"};

/// The standard deviation of first weights between {0,1} units: such that fields of units have the same deviation
/// whatever the number of units that they come from.
double first_weight_scale(const std::vector<Layer>& layers);

}  // namespace ergodic
