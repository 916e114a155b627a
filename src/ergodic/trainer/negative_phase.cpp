#include "ergodic/trainer/negative_phase.hpp"

#include <utility>

#include "ergodic/model/exact.hpp"
#include "ergodic/sampler/gibbs.hpp"

namespace ergodic {
namespace {

/// The chains' visible states with the hidden layer's means given them: less noise than with its samples.
void subtract_mean_statistics(const Rbm& model, const Chains& chains, Statistics& out, const Context& context) {
  const State& visible = chains.layers[Rbm::kVisible];
  const double weight = -1.0 / static_cast<double>(visible.chains());
  model.add_statistics(visible, model.conditional_means(Rbm::kHidden, visible, context), {&weight, 1}, out, context);
}

class ContrastiveDivergence : public NegativePhase {
 public:
  explicit ContrastiveDivergence(std::size_t steps) : steps_(steps) {}

  void subtract_statistics(const Rbm& model, const State& batch, std::uint64_t update, Key key, Statistics& out,
                           const Context& context) override {
    Chains chains = start_at(model, batch, update * steps_, key, context);
    for (std::size_t s = 0; s < steps_; ++s) step(Gibbs{}, model, chains, key, context);
    subtract_mean_statistics(model, chains, out, context);
  }

 private:
  std::size_t steps_;
};

class PersistentChains : public NegativePhase {
 public:
  PersistentChains(std::size_t steps, Chains chains) : steps_(steps), chains_(std::move(chains)) {}

  void subtract_statistics(const Rbm& model, const State&, std::uint64_t, Key key, Statistics& out,
                           const Context& context) override {
    for (std::size_t s = 0; s < steps_; ++s) step(Gibbs{}, model, chains_, key, context);
    subtract_mean_statistics(model, chains_, out, context);
  }

  Chains* chains() override { return &chains_; }

 private:
  std::size_t steps_;
  Chains chains_;
};

class ExactEnumeration : public NegativePhase {
 public:
  void subtract_statistics(const Rbm& model, const State&, std::uint64_t, Key, Statistics& out,
                           const Context& context) override {
    const Statistics exact = exact_statistics(model, context);
    for (std::size_t k = 0; k < out.size(); ++k) out[k] -= exact[k];
  }
};

}  // namespace

std::unique_ptr<NegativePhase> contrastive_divergence(std::size_t steps) {
  return std::make_unique<ContrastiveDivergence>(steps);
}

std::unique_ptr<NegativePhase> persistent_chains(std::size_t steps, Chains chains) {
  return std::make_unique<PersistentChains>(steps, std::move(chains));
}

std::unique_ptr<NegativePhase> exact_enumeration() { return std::make_unique<ExactEnumeration>(); }

}  // namespace ergodic
