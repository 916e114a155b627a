// `ergodic train --model boltzmann`.
#include <fmt/format.h>

#include <algorithm>

#include "ergodic/model/elimination.hpp"
#include "ergodic/run/graph_request.hpp"
#include "ergodic/run/memory.hpp"
#include "ergodic/run/pictures.hpp"
#include "ergodic/run/training.hpp"
#include "ergodic/sampler/gibbs.hpp"
#include "ergodic/trainer/boltzmann_learner.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kPicturedSamples = 100;
constexpr std::uint64_t kPictureSweeps = 300;

/// Hidden units, or sites, come after the visible ones and are like them.
Boltzmann empty_machine(const TrainRequest& request, const Dataset& data, const Context& context) {
  const Layer visible = visible_layer(request, data);
  const std::size_t letters = letters_of(visible), each = std::max<std::size_t>(letters, 1);
  const Layer units = make_layer(name_of(visible), units_of(visible) + request.hidden * each, letters);
  const Graph sites = graph_from_text(request.graph, {sites_of(visible), request.hidden}, Key{request.seed});
  const Graph graph = letters > 0 ? site_graph(sites, letters) : sites;
  announce_memory(graph, units, data, context);
  return Boltzmann(units, graph, units_of(visible));
}

std::vector<Picture> pictures_of(const Boltzmann& model, const Dataset& data, Key key, const Context& context) {
  Chains chains = far_start(model, kPicturedSamples, key, context);
  for (std::uint64_t s = 0; s < kPictureSweeps; ++s) step(Gibbs{}, model, chains, key, context);
  return {{fmt::format("Samples: {} chains after {} sweeps", kPicturedSamples, kPictureSweeps),
           picture_of_rows(drawable(plain_values(model.visible_part(chains.layers[0])), model.visible_layer()),
                           data.shape)}};
}

}  // namespace

TrainResult train_boltzmann(TrainRequest request, const Context& context) {
  const TrainingData data = prepare(request);
  const Key key{request.seed};
  Boltzmann model = empty_machine(request, data.train, context);
  initialise(model, data.train, request.weight_scale, key, context);
  Trainee trainee =
      trainee_of(model, Gibbs{}, learner_of(model, data.train, data.held_out, options_of(request), key, context));
  trainee.annealable.visible = model.visible_layer();
  if (!why_no_exact_free_energy(model).empty()) {
    trainee.annealable.free_energy = [&model](const State& rows, const Budget& budget, Key seed, const Context& inner) {
      const auto found = spend_on_rows(budget, model, rows, seed, inner);
      return found ? std::optional(mean_free_energy(*found)) : std::nullopt;
    };
  }
  trainee.name = "Boltzmann machine";
  trainee.summary = {{"visible units", text_of(model.visible_layer())},
                     {"hidden units", std::to_string(model.hidden())},
                     {"couplings", std::to_string(model.graph().edges())}};
  trainee.pictures = [&](const Context& inner) { return pictures_of(model, data.train, key, inner); };
  return run_training(request, data, std::move(trainee), context);
}

}  // namespace ergodic
