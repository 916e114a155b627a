#include "ergodic/model/reconstruction.hpp"

#include <cmath>
#include <utility>

namespace ergodic {
namespace {

// Set apart the random numbers of one step; stream 0 belongs to the pseudo-likelihood.
constexpr std::uint8_t kUpStream = 1, kDownStream = 2;

}  // namespace

State reconstruct(const Rbm& model, const State& rows, Key key, std::uint64_t step, const Context& context) {
  State layers[] = {rows, model.make_state(Rbm::kHidden, rows.chains())};
  model.resample(Rbm::kHidden, layers, key.at(Purpose::kMonitor, step, kUpStream), 0, context);
  model.resample(Rbm::kVisible, layers, key.at(Purpose::kMonitor, step, kDownStream), 0, context);
  return std::move(layers[Rbm::kVisible]);
}

double reconstruction_error(const Rbm& model, const State& rows, Key key, std::uint64_t step, const Context& context) {
  const State back = reconstruct(model, rows, key, step, context);
  const double sites = static_cast<double>(rows.chains()) * static_cast<double>(sites_of(model.visible()));
  if (rows.real()) {
    double squares = 0.0;
    for (std::size_t k = 0; k < rows.reals().elements().size(); ++k) {
      const double difference = double{rows.reals().elements()[k]} - back.reals().elements()[k];
      squares += difference * difference;
    }
    return std::sqrt(squares / sites);
  }
  return static_cast<double>(differing_sites(model.visible(), rows, back)) / sites;
}

}  // namespace ergodic
