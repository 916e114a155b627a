// `ergodic train --model boltzmann`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ergodic/model/pseudo_likelihood.hpp"
#include "ergodic/run/graph_request.hpp"
#include "ergodic/run/memory.hpp"
#include "ergodic/run/pictures.hpp"
#include "ergodic/run/training.hpp"
#include "ergodic/sampler/gibbs.hpp"
#include "ergodic/trainer/energy_learner.hpp"

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

/// Visible units that are independent, with the means of the data. Couplings of hidden units are random: all of them
/// zero would stay so, since nothing would tell one from another.
void initialise(Boltzmann& model, const Dataset& data, double weight_scale, Key key, const Context& context) {
  // A unit that never changes would get an infinite bias: no mean is taken to be closer to a level than this.
  const double margin = 1.0 / (static_cast<double>(data.rows()) + 2.0);
  const Levels levels = levels_of(model.units());
  std::vector<double> means = unit_means(data);
  for (double& m : means) m = levels.low + levels.gap() * m;
  const std::vector<double> fields = fields_for_means(model.visible_layer(), means, {}, margin);
  const double scale = weight_scale / (levels.gap() * levels.gap());
  const Draw draw = key.at(Purpose::kInitialWeights);
  model.update(
      [&](Parameters& parameters) {
        const std::span<float> bias = parameters["bias"];
        for (std::size_t i = 0; i < fields.size(); ++i) bias[i] = static_cast<float>(fields[i]);
        for (std::size_t i = 0; i < bias.size() && model.hidden() > 0; ++i) {
          model.graph().for_later_neighbours(i, [&](std::size_t j, std::size_t e) {
            if (j < model.visible()) return;
            parameters["couplings"][e] =
                static_cast<float>(scale * draw.normal(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)));
          });
        }
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
                                                              far_start(model, request.chains, Key{request.seed}, {}));
}

/// The offsets of centring: the means of the visible units, and of hidden ones without fields; or what makes the
/// gradient that of the plain machine in {0,1} units, if there is no data to centre on.
std::vector<double> offsets_of(const Boltzmann& model, const Dataset* data) {
  const Levels levels = levels_of(model.units());
  const std::size_t letters = letters_of(model.units());
  const double share = !data ? 0.0 : letters > 0 ? 1.0 / static_cast<double>(letters) : 0.5;
  std::vector<double> out(units_of(model.units()), share);
  if (data) std::ranges::copy(unit_means(*data), out.begin());
  for (double& offset : out) offset = levels.low + levels.gap() * offset;
  return out;
}

/// The conditioned gradient, as conditioning.hpp has it for an RBM: with gap g of the units and offsets mu,
///   dw_ij <- (dw_ij - mu_i db_j - mu_j db_i) / g^4 - decay,   db_i <- db_i / g^2 - sum over j of mu_j dw_ij.
void condition(const Boltzmann& model, std::span<const double> offsets, const Decay& decay, Statistics& gradient) {
  const double gap = levels_of(model.units()).gap(), square = gap * gap;
  const std::span<const float> couplings = model.couplings();
  const std::span<double> pairs = std::span(gradient).first(couplings.size()),
                          bias = std::span(gradient).subspan(pairs.size());
  const auto for_edges = [&](const auto& f) {
    for (std::size_t i = 0; i < bias.size(); ++i) {
      model.graph().for_later_neighbours(i, [&](std::size_t j, std::size_t e) { f(i, j, e); });
    }
  };
  for_edges([&](std::size_t i, std::size_t j, std::size_t e) {
    pairs[e] = (pairs[e] - offsets[i] * bias[j] - offsets[j] * bias[i]) / (square * square);
  });
  for (double& b : bias) b /= square;
  for_edges([&](std::size_t i, std::size_t j, std::size_t e) {
    const double w = couplings[e];
    pairs[e] -= decay.l2 * w + (w == 0.0 ? 0.0 : std::copysign(decay.l1 / square, w));
    bias[i] -= offsets[j] * pairs[e];
    bias[j] -= offsets[i] * pairs[e];
  });
}

EnergyLearning learning_of(const TrainRequest& request, const Boltzmann& model, const Dataset& data) {
  EnergyLearning out;
  out.optimiser = Sgd{request.momentum};
  const bool pseudo = request.method == Method::kPseudo;
  std::vector<double> offsets = offsets_of(model, request.uncentred || pseudo ? nullptr : &data);
  out.condition = [&model, offsets = std::move(offsets), decay = Decay{request.l1, request.l2}](Statistics& gradient) {
    condition(model, offsets, decay, gradient);
  };
  if (model.hidden() > 0 || !data.complete()) {
    require(!pseudo,
            "pseudo-likelihood training needs all units of all rows, without hidden ones or missing values; "
            "take pcd");
    const Key key{request.seed};
    out.completion = Completion(data, far_start(model, data.rows(), key, {}, kFirstDataChain).layers[0]);
    out.completion_sweeps = request.steps;
  }
  out.monitors = [&model](const State& rows, const Context& context) -> Measures {
    const std::vector<double> values = model.pseudo_log_likelihood(rows, context);
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    return {{"pseudo_log_likelihood", sum / static_cast<double>(values.size())}};
  };
  return out;
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
  PseudoLikelihood pseudo{model};
  initialise(model, data.train, request.weight_scale, key, context);
  EnergyLearning learning = learning_of(request, model, data.train);
  std::unique_ptr<Learner> learner;
  if (request.method == Method::kPseudo) {
    learner = std::make_unique<EnergyLearner<PseudoLikelihood>>(
        pseudo, data.train, data.held_out, std::make_unique<Normalised<PseudoLikelihood>>(), std::move(learning), key);
  } else {
    learner = std::make_unique<EnergyLearner<Boltzmann>>(model, data.train, data.held_out,
                                                         negative_phase(request, model), std::move(learning), key);
  }
  Trainee trainee = trainee_of(model, Gibbs{}, std::move(learner), request);
  trainee.name = "Boltzmann machine";
  trainee.summary = {{"visible units", text_of(model.visible_layer())},
                     {"hidden units", std::to_string(model.hidden())},
                     {"couplings", std::to_string(model.graph().edges())}};
  trainee.pictures = [&](const Context& inner) { return pictures_of(model, data.train, key, inner); };
  return run_training(request, data, std::move(trainee), context);
}

}  // namespace ergodic
