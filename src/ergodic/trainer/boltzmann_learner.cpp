#include "ergodic/trainer/boltzmann_learner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/data/moments.hpp"
#include "ergodic/model/exact_boltzmann.hpp"
#include "ergodic/model/pseudo_likelihood.hpp"
#include "ergodic/sampler/gibbs.hpp"
#include "ergodic/sampler/metropolis.hpp"
#include "ergodic/trainer/energy_learner.hpp"
#include "ergodic/trainer/normalised.hpp"

namespace ergodic {
namespace {

/// The offsets of centring: the means of the visible units, and of hidden ones without fields; or what makes the
/// gradient that of the plain machine in {0,1} units, if there is no data to centre on.
std::vector<double> offsets_of(const Boltzmann& model, const Dataset* data) {
  const Levels levels = levels_of(model.units());
  std::vector<double> out = data ? even_shares(model.units()) : std::vector<double>(units_of(model.units()));
  if (data) std::ranges::copy(unit_means(*data), out.begin());
  for (double& offset : out) offset = levels.low + levels.gap() * offset;
  return out;
}

EnergyLearning learning_of(const Boltzmann& model, const Dataset& data, const TrainOptions& options) {
  EnergyLearning out;
  out.optimiser = options.sgd;
  const bool centred = !options.uncentred && options.method != kPseudoLikelihood.name;
  out.condition = [&model, offsets = offsets_of(model, centred ? &data : nullptr),
                   decay = options.decay](Statistics& gradient) { condition(model, offsets, decay, gradient); };
  out.pseudo_log_likelihood = [&model](const State& rows, const Context& context) {
    const std::vector<double> values = model.pseudo_log_likelihood(rows, context);
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  return out;
}

/// Holds what its learner refers to.
struct PseudoMachine {
  PseudoLikelihood pseudo;
};
struct PseudoLearner : private PseudoMachine, public EnergyLearner<PseudoLikelihood> {
  PseudoLearner(Boltzmann& model, const Dataset& train, const Dataset& held_out, EnergyLearning learning, Key key)
      : PseudoMachine{{model}},
        EnergyLearner(pseudo, train, held_out,
                      std::make_unique<SimulatorOf<PseudoLikelihood, Metropolis>>(pseudo, Metropolis{}),
                      std::make_unique<Normalised>(), std::move(learning), key) {}
};

}  // namespace

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

std::unique_ptr<Learner> learner_of(Boltzmann& model, const Dataset& train, const Dataset& held_out,
                                    const TrainOptions& options, Key key, const Context& context) {
  EnergyLearning learning = learning_of(model, train, options);
  const bool all_known = model.hidden() == 0 && train.complete();
  if (options.method == kPseudoLikelihood.name) {
    require(all_known,
            "pseudo-likelihood training needs all units of all rows, without hidden ones or missing values; "
            "take pcd");
    return std::make_unique<PseudoLearner>(model, train, held_out, std::move(learning), key);
  }
  if (!all_known) {
    learning.completion =
        Completion(train, independent_start(model, train.rows(), key, context, kFirstDataChain).layers[0]);
    learning.completion_sweeps = *settled(options, {}, train.rows()).steps;
  }
  return energy_learner(model, train, held_out, options, std::move(learning), key, context);
}

Trainer trainer_of(Boltzmann& model, const Dataset& train, const Dataset& held_out, const TrainOptions& options,
                   Key key, const Context& context) {
  return Trainer(learner_of(model, train, held_out, options, key, context), train, options, key);
}

}  // namespace ergodic
