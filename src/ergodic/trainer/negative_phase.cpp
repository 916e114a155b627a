#include "ergodic/trainer/negative_phase.hpp"

#include <utility>

#include "ergodic/model/exact.hpp"
#include "ergodic/sampler/gibbs.hpp"

namespace ergodic {
namespace {

class ContrastiveDivergence : public NegativePhase {
 public:
  explicit ContrastiveDivergence(std::size_t steps) : steps_(steps) {}

  ModelTerm advance(const Rbm& model, const Chains& data, std::uint64_t update, Key key,
                    const Context& context) override {
    chains_.layers = data.layers;
    chains_.sweep = update * steps_;
    for (std::size_t s = 0; s < steps_; ++s) step(Gibbs{}, model, chains_, key, context);
    return &chains_;
  }

 private:
  std::size_t steps_;
  Chains chains_;
};

class PersistentChains : public NegativePhase {
 public:
  PersistentChains(std::size_t steps, Chains chains) : steps_(steps), chains_(std::move(chains)) {}

  ModelTerm advance(const Rbm& model, const Chains&, std::uint64_t, Key key, const Context& context) override {
    for (std::size_t s = 0; s < steps_; ++s) step(Gibbs{}, model, chains_, key, context);
    return &chains_;
  }

  Chains* chains() override { return &chains_; }

 private:
  std::size_t steps_;
  Chains chains_;
};

class ExactEnumeration : public NegativePhase {
 public:
  ModelTerm advance(const Rbm& model, const Chains&, std::uint64_t, Key, const Context& context) override {
    return exact_statistics(model, context);
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
