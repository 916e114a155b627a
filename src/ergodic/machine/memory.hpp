// How much memory training takes, known before anything of its size is allocated.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/model/graph.hpp"
#include "ergodic/model/layer.hpp"
#include "ergodic/trainer/train_options.hpp"

namespace ergodic {

/// What shapes the memory of the training of an RBM.
struct TrainingSize {
  Layer visible, hidden;
  const Dataset* data = nullptr;  ///< rows to learn from
  Objective objective = Objective::kGenerative;
};

/// What shapes the memory of the training of a classifier.
struct ClassifierSize {
  std::vector<std::size_t> layers;  ///< units of each: inputs, hidden layers, classes
  std::size_t kept = 1;             ///< numbers that the optimiser keeps for each parameter
  std::size_t rows_under_way = 0;   ///< rows of a mini-batch, and of those that an adversary moves
  bool pretrained = false;          ///< whether hidden layers are trained without labels first
  const Dataset* data = nullptr;    ///< rows to learn from
};

/// Bytes that training takes at its peak, which is when it saves; to a few dozen percent.
double bytes_for_training(const TrainingSize& size);
double bytes_for_training(const ClassifierSize& size);

/// "65536 x 256 weights: about 620 MB".
std::string memory_text(const TrainingSize& size);

/// Tells the observer how much memory training takes, if it is much.
void announce_memory(const TrainingSize& size, const Context& context);
void announce_memory(const ClassifierSize& size, const Context& context);
/// As above, for layers each of which is coupled with the next, with recognition weights of their own or without.
void announce_memory(const std::vector<Layer>& layers, bool untied, const Dataset& data, const Context& context);
/// As above, for a deep Boltzmann machine, an RBM of which each row keeps draws of the visible layer; `by_layer` are
/// the layers that are trained one by one before it, if any.
void announce_memory(const TrainingSize& size, const std::vector<Layer>& by_layer, const Context& context);
/// As above, for a machine of these units on a graph.
void announce_memory(const Graph& graph, const Layer& units, const Dataset& data, const Context& context);

}  // namespace ergodic
