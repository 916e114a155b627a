#include "ergodic/trainer/contrastive_divergence.hpp"

#include "ergodic/trainer/methods.hpp"

namespace ergodic {

ModelTerm ContrastiveDivergence::advance(const Simulator& model, const Chains& data, std::uint64_t update, Key key,
                                         const Context& context) {
  if (chains_.count() != data.count()) {
    chains_.layers = data.layers;
  } else {
    for (std::size_t k = model.first_layer_read(); k < data.layers.size(); ++k) chains_.layers[k] = data.layers[k];
  }
  chains_.sweep = update * steps_;
  for (std::size_t s = 0; s < steps_; ++s) model.sweep(chains_, key, context);
  return &chains_;
}

const Method kContrastiveDivergence{
    "cd", "chains that start at the data in each update (contrastive divergence)",
    [](const Simulator&, const TrainOptions& options, Key, const Context&) -> std::unique_ptr<NegativePhase> {
      return std::make_unique<ContrastiveDivergence>(*options.steps);
    }};

}  // namespace ergodic
