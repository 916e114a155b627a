#include "ergodic/sampler/chains.hpp"

#include <utility>

namespace ergodic {
namespace {

/// Units drawn from their biases alone.
State drawn_alone(const Layer& layer, std::span<const float> bias, const Precision& precision, std::size_t count,
                  const Draw& draw, std::uint64_t first_chain) {
  State out = make_state(layer, count);
  const std::vector<double> fields(bias.begin(), bias.end());
  for (std::size_t r = 0; r < count; ++r) {
    ergodic::draw(layer, {fields, precision}, {draw, static_cast<std::uint32_t>(first_chain + r), out, r});
  }
  return out;
}

}  // namespace

Chains start_at(const Rbm& model, State visible, std::uint64_t sweep, Key key, const Context& context,
                std::uint64_t first_chain) {
  Chains chains;
  chains.sweep = sweep;
  chains.first_chain = first_chain;
  const std::size_t count = visible.chains();
  chains.layers.push_back(std::move(visible));
  chains.layers.push_back(model.make_state(Rbm::kHidden, count));
  const Draw draw = key.at(Purpose::kInitialChains, sweep, Rbm::kHidden);
  model.resample(Rbm::kHidden, chains.layers, draw, chains.first_chain, context);
  return chains;
}

Chains far_start(const Rbm& model, std::size_t count, Key key, const Context& context, std::uint64_t first_chain) {
  State visible = drawn_alone(model.visible(), model.visible_bias(), model.precision(Rbm::kVisible), count,
                              key.at(Purpose::kInitialChains, 0, Rbm::kVisible), first_chain);
  return start_at(model, std::move(visible), 0, key, context, first_chain);
}

Chains far_start(const Boltzmann& model, std::size_t count, Key key, const Context&, std::uint64_t first_chain) {
  Chains chains;
  chains.first_chain = first_chain;
  chains.layers.push_back(
      drawn_alone(model.units(), model.bias(), {}, count, key.at(Purpose::kInitialChains), first_chain));
  return chains;
}

}  // namespace ergodic
