#include "ergodic/sampler/chains.hpp"

#include <utility>

#include "ergodic/core/elementary.hpp"
#include "ergodic/kernels/coin.hpp"

namespace ergodic {

Chains start_at(const Rbm& model, State visible, std::uint64_t sweep, Key key, const Context& context) {
  Chains chains;
  chains.sweep = sweep;
  const std::size_t count = visible.chains();
  chains.layers.push_back(std::move(visible));
  chains.layers.push_back(model.make_state(Rbm::kHidden, count));
  const Draw draw = key.at(Purpose::kInitialChains, sweep, Rbm::kHidden);
  model.resample(Rbm::kHidden, chains.layers, draw, chains.first_chain, context);
  return chains;
}

Chains far_start(const Rbm& model, std::size_t count, Key key, const Context& context) {
  State visible = model.make_state(Rbm::kVisible, count);
  const Draw draw = key.at(Purpose::kInitialChains, 0, Rbm::kVisible);
  const double gap = visible.levels().gap();
  for (std::size_t r = 0; r < count; ++r) {
    for (std::size_t i = 0; i < visible.units(); ++i) {
      const double p = sigmoid(gap * model.visible_bias()[i]);
      visible.bits().set(r, i, coin(draw, static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(i), p));
    }
  }
  return start_at(model, std::move(visible), 0, key, context);
}

}  // namespace ergodic
