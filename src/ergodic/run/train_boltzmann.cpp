// `ergodic train --model boltzmann`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ergodic/model/pseudo_likelihood.hpp"
#include "ergodic/run/data_request.hpp"
#include "ergodic/run/graph_request.hpp"
#include "ergodic/run/pictures.hpp"
#include "ergodic/run/training.hpp"
#include "ergodic/sampler/gibbs.hpp"
#include "ergodic/trainer/energy_learner.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kPicturedSamples = 100;
constexpr std::uint64_t kPictureSweeps = 300;
constexpr std::size_t kMonitoredRows = 1000;

Boltzmann empty_machine(const TrainRequest& request, const Dataset& data) {
  const Layer units = visible_layer(request, data);
  const Graph sites = graph_from_text(request.graph, {sites_of(units), 0}, Key{request.seed});
  return Boltzmann(units, letters_of(units) > 0 ? site_graph(sites, letters_of(units)) : sites);
}

/// Units that are independent, with the means of the data.
void initialise(Boltzmann& model, const Dataset& data, const Context& context) {
  // A unit that never changes would get an infinite bias: no mean is taken to be closer to a level than this.
  const double margin = 1.0 / (static_cast<double>(data.rows()) + 2.0);
  const Levels levels = levels_of(model.units());
  std::vector<double> means = unit_means(data);
  for (double& m : means) m = levels.low + levels.gap() * m;
  const std::vector<double> fields = fields_for_means(model.units(), means, {}, margin);
  model.update(
      [&](Parameters& parameters) {
        const std::span<float> bias = parameters["bias"];
        for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<float>(fields[i]);
      },
      context);
}

std::unique_ptr<NegativePhase<Boltzmann>> negative_phase(const TrainRequest& request, const Boltzmann& model) {
  if (request.method == Method::kCd) {
    return std::make_unique<ContrastiveDivergence<Boltzmann, Gibbs>>(Gibbs{}, request.steps);
  }
  if (request.method == Method::kExact) {
    require(enumerable(model),
            fmt::format("--method exact sums over all states: {} units at most, found {} {} units; take pcd or pseudo",
                        kMaxEnumeratedUnits, units_of(model.units()), name_of(model.units())));
    return std::make_unique<ExactEnumeration<Boltzmann>>();
  }
  return std::make_unique<PersistentChains<Boltzmann, Gibbs>>(Gibbs{}, request.steps,
                                                              far_start(model, request.chains, Key{request.seed}));
}

EnergyLearning learning_of(const TrainRequest& request, const Boltzmann& model, const Dataset& data) {
  EnergyLearning out;
  out.optimiser = Sgd{request.momentum};
  if (request.l1 > 0.0 || request.l2 > 0.0) {
    out.condition = [&model, l1 = request.l1, l2 = request.l2](Statistics& gradient) {
      const std::span<const float> couplings = model.couplings();
      for (std::size_t e = 0; e < couplings.size(); ++e) {
        const double w = couplings[e];
        gradient[e] -= l2 * w + (w == 0.0 ? 0.0 : std::copysign(l1, w));
      }
    };
  }
  State rows = first_rows(model.units(), data, kMonitoredRows, Key{request.seed});
  out.monitors = [&model, rows = std::move(rows)](const Context& context) -> Measures {
    const std::vector<double> values = model.pseudo_log_likelihood(rows, context);
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    return {{"pseudo_log_likelihood", sum / static_cast<double>(values.size())}};
  };
  return out;
}

std::vector<Picture> pictures_of(const Boltzmann& model, const Dataset& data, Key key, const Context& context) {
  Chains chains = far_start(model, kPicturedSamples, key);
  for (std::uint64_t s = 0; s < kPictureSweeps; ++s) step(Gibbs{}, model, chains, key, context);
  return {{fmt::format("Samples: {} chains after {} sweeps", kPicturedSamples, kPictureSweeps),
           picture_of_rows(drawable(plain_values(chains.layers[0]), model.units()), data.shape)}};
}

}  // namespace

TrainResult train_boltzmann(TrainRequest request, const Context& context) {
  const TrainingData data = prepare(request);
  const Key key{request.seed};
  Boltzmann model = empty_machine(request, data.train);
  PseudoLikelihood pseudo{model};
  initialise(model, data.train, context);
  EnergyLearning learning = learning_of(request, model, data.held_out.rows() > 0 ? data.held_out : data.train);
  std::unique_ptr<Learner> learner;
  if (request.method == Method::kPseudo) {
    learner = std::make_unique<EnergyLearner<PseudoLikelihood>>(
        pseudo, data.train, data.held_out, std::make_unique<Normalised<PseudoLikelihood>>(), std::move(learning), key);
  } else {
    learner = std::make_unique<EnergyLearner<Boltzmann>>(model, data.train, data.held_out,
                                                         negative_phase(request, model), std::move(learning), key);
  }
  Trainee trainee = trainee_of(model, std::move(learner), request);
  trainee.name = "Boltzmann machine";
  trainee.summary = {{"units", text_of(model.units())}, {"couplings", std::to_string(model.graph().edges())}};
  trainee.pictures = [&](const Context& inner) { return pictures_of(model, data.train, key, inner); };
  return run_training(request, data, std::move(trainee), context);
}

}  // namespace ergodic
