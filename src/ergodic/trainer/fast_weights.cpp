#include "ergodic/trainer/fast_weights.hpp"

#include <algorithm>
#include <cmath>

#include "ergodic/trainer/methods.hpp"

namespace ergodic {
namespace {

constexpr float kKept = 0.95f;                        // of the fast parameters, from update to update
constexpr std::size_t kBlock = std::size_t{1} << 14;  // parameters that one thread takes at a time

}  // namespace

FastWeights::FastWeights(Sweeps sweeps, Chains chains, const Simulator& model, double rate)
    : PersistentChains(sweeps, std::move(chains)),
      rate_(rate),
      twin_(model.twin()),
      fast_(model.parameters().size()),
      before_(fast_.size()) {}

ModelTerm FastWeights::advance(const Simulator& model, const Chains& data, std::uint64_t update, Key key,
                               const Context& context) {
  const std::span<const float> slow = model.parameters();
  const auto add = [&](std::span<float> values) {
    context.for_blocks(fast_.size(), kBlock, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        before_[k] = slow[k];
        values[k] = slow[k] + fast_[k];
      }
    });
  };
  twin_->update(std::cref(add), context);
  return PersistentChains::advance(twin_->simulator(), data, update, key, context);
}

void FastWeights::follow(const Simulator& model, const UpdateStep& done, Key, const Context& context) {
  const std::span<const float> slow = model.parameters();
  const auto gain = static_cast<float>(rate_ * done.rate_factor / done.rate);
  context.for_blocks(fast_.size(), kBlock, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) fast_[k] = kKept * fast_[k] + gain * (slow[k] - before_[k]);
  });
}

Measures FastWeights::measures() const {
  double sum = 0.0;
  for (const float value : fast_) sum += double{value} * value;
  return {{"fast_norm", std::sqrt(sum / static_cast<double>(fast_.size()))}};
}

const Method kFastWeights{"fpcd", "persistent chains, moved by fast weights on top that drive them on",
                          [](const Simulator& model, const TrainOptions& options, Key key,
                             const Context& context) -> std::unique_ptr<NegativePhase> {
                            return std::make_unique<FastWeights>(Sweeps(options),
                                                                 model.start(*options.chains, key, context), model,
                                                                 *options.learning_rate);
                          },
                          true};

}  // namespace ergodic
