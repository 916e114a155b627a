#include "ergodic/sampler/chains.hpp"

#include <utility>

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
  const std::vector<double> fields(model.visible_bias().begin(), model.visible_bias().end());
  const Row row{fields, model.precision(Rbm::kVisible)};
  for (std::size_t r = 0; r < count; ++r) {
    ergodic::draw(model.visible(), row, {draw, static_cast<std::uint32_t>(r), visible, r});
  }
  return start_at(model, std::move(visible), 0, key, context);
}

}  // namespace ergodic
