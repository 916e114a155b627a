#include "ergodic/trainer/persistent_chains.hpp"

#include "ergodic/trainer/methods.hpp"

namespace ergodic {

const Method kPersistentChains{"pcd", "persistent chains, which go on from update to update",
                               [](const Simulator& model, const TrainOptions& options, Key key,
                                  const Context& context) -> std::unique_ptr<NegativePhase> {
                                 return std::make_unique<PersistentChains>(Sweeps(options),
                                                                           model.start(*options.chains, key, context));
                               },
                               true};

}  // namespace ergodic
