// The exact expectation, for models whose states can be enumerated.
#include "ergodic/trainer/methods.hpp"

namespace ergodic {
namespace {

class ExactGradient : public NegativePhase {
 public:
  ModelTerm advance(const Simulator& model, const Chains&, std::uint64_t, Key, const Context& context) override {
    return model.expected_statistics(context);
  }
};

}  // namespace

const Method kExactGradient{
    "exact", "the exact gradient, by enumeration of all states; for small machines",
    [](const Simulator& model, const TrainOptions&, Key, const Context&) -> std::unique_ptr<NegativePhase> {
      model.require_enumerable();
      return std::make_unique<ExactGradient>();
    }};

}  // namespace ergodic
