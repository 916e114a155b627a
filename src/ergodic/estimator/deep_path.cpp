#include "ergodic/estimator/deep_path.hpp"

#include <utility>

#include "ergodic/estimator/rbm_path.hpp"
#include "ergodic/sampler/clamped_start.hpp"

namespace ergodic {
namespace {

class DeepPath final : public RbmPath {
 public:
  DeepPath(const DeepBoltzmann& machine, std::vector<float> base, const Context& context)
      : RbmPath(machine, std::move(base), context), machine_(machine) {}

  Chains start_at(const State& visible, Key key, const Context& context) override {
    return clamped_start(machine_, visible, key, context);
  }

 private:
  const DeepBoltzmann& machine_;
};

}  // namespace

std::unique_ptr<Path> path_to(const DeepBoltzmann& machine, const State& rows, Key key, const Context& context) {
  const Chains at_rows = clamped_start(machine, rows, key, context);
  std::vector<float> base = base_fields(machine.visible(), at_rows.layers[Rbm::kVisible], {});
  return std::make_unique<DeepPath>(machine, std::move(base), context);
}

}  // namespace ergodic
