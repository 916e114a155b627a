#include "ergodic/trainer/population_chains.hpp"

#include "ergodic/sampler/population.hpp"
#include "ergodic/trainer/methods.hpp"

namespace ergodic {

ModelTerm PopulationChains::advance(const Simulator& model, const Chains& data, std::uint64_t update, Key key,
                                    const Context& context) {
  const ModelTerm out = PersistentChains::advance(model, data, update, key, context);
  energies_ = model.marginal_energies(*chains(), context);
  return out;
}

void PopulationChains::follow(const Simulator& model, const UpdateStep& done, Key key, const Context& context) {
  const std::vector<double> now = model.marginal_energies(*chains(), context);
  for (std::size_t r = 0; r < now.size(); ++r) energies_[r] -= now[r];
  effective_share_ = draw_by_weight(energies_, key.at(Purpose::kPopulation, done.update).uniform(0, 0), *chains());
  model.redraw_hidden(*chains(), done.update, key, context);
}

const Method kPopulation{"population", "persistent chains that die and multiply as the machine changes",
                         [](const Simulator& model, const TrainOptions& options, Key key,
                            const Context& context) -> std::unique_ptr<NegativePhase> {
                           return std::make_unique<PopulationChains>(Sweeps(options),
                                                                     model.start(*options.chains, key, context));
                         },
                         true};

}  // namespace ergodic
