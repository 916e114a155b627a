#include "ergodic/trainer/normalised.hpp"

#include "ergodic/trainer/methods.hpp"

namespace ergodic {

const Method kPseudoLikelihood{
    "pseudo", "maximum pseudo-likelihood, which needs no chains; for boltzmann",
    [](const Simulator&, const TrainOptions&, Key, const Context&) -> std::unique_ptr<NegativePhase> {
      return std::make_unique<Normalised>();
    }};

}  // namespace ergodic
