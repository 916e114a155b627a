// `ergodic train --model neural`.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "ergodic/run/data_request.hpp"
#include "ergodic/run/pictures.hpp"
#include "ergodic/run/training.hpp"
#include "ergodic/sampler/jumping.hpp"
#include "ergodic/sampler/langevin.hpp"
#include "ergodic/trainer/energy_learner.hpp"

namespace ergodic {
namespace {

// What works on points of a plane (docs/decisions/neural-energy.md).
constexpr std::uint64_t kEpochs = 60;
constexpr double kRate = 0.01;
constexpr Adam kAdam{0.5, 0.999};
constexpr double kLangevinStep = 0.15;  // of the smallest deviation of the data

constexpr std::size_t kMostLayers = 8, kMostUnits = 4096;

constexpr std::size_t kPicturedSamples = 2000;
constexpr std::uint64_t kPictureSweeps = 200;

/// "32,32" as numbers.
std::vector<std::size_t> sizes_in(const std::string& text) {
  std::vector<std::size_t> out;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::size_t size = 0;
    const auto [after, error] = std::from_chars(at, end, size);
    const bool good = error == std::errc{} && (after == end || *after == ',') && size >= 1 && size <= kMostUnits;
    out.push_back(size);
    require(good && out.size() <= kMostLayers,
            fmt::format("--layers: expected one to {} numbers from 1 to {} with commas between them, found '{}'",
                        kMostLayers, kMostUnits, text));
    if (after == end) return out;
    at = after + 1;
  }
}

/// What is different from an RBM, where the request does not say. The batch follows the rows.
void settle_neural(TrainRequest& request) {
  require(request.visible_type == UnitType::kBernoulli || request.visible_type == UnitType::kGaussian,
          fmt::format("a neural energy is of real units; leave out --visible-type, which is {}",
                      name_of(request.visible_type)));
  require(request.method == Method::kPcd,
          fmt::format("a neural energy is trained with persistent chains (--method pcd), found {}",
                      name_of(request.method)));
  request.visible_type = UnitType::kGaussian;
  if (request.epochs == 0) request.epochs = kEpochs;
  if (request.learning_rate == 0.0) request.learning_rate = kRate;
}

using Kernel = Jumping<Langevin>;

Kernel kernel_for(const Bowl& bowl) {
  return {Langevin{kLangevinStep * double{*std::ranges::min_element(bowl.deviation)}}};
}

std::vector<Picture> pictures_of(const Neural& model, Key key, const Context& context) {
  if (units_of(model.units()) != 2) return {};
  Chains chains = far_start(model, kPicturedSamples, key, context);
  for (std::uint64_t s = 0; s < kPictureSweeps; ++s) step(kernel_for(model.bowl()), model, chains, key, context);
  return {{fmt::format("The energy, and {} samples after {} sweeps", kPicturedSamples, kPictureSweeps),
           picture_of_plane(model, chains.layers[0].reals(), context)}};
}

}  // namespace

TrainResult train_neural(TrainRequest request, const Context& context) {
  const std::vector<std::size_t> layers = sizes_in(request.layers);
  settle_neural(request);
  const TrainingData data = prepare(request);
  require_complete(data.train);
  const Layer visible = visible_layer(request, data.train);
  const Key key{request.seed};
  Neural model(bowl_of(data.train.reals(), data.train.weights), layers);
  initialise(model, key, context);
  auto chains = std::make_unique<PersistentChains<Neural, Kernel>>(kernel_for(model.bowl()), request.steps,
                                                                   far_start(model, request.chains, key, context));
  auto learner = std::make_unique<EnergyLearner<Neural>>(model, data.train, data.held_out, std::move(chains),
                                                         EnergyLearning{kAdam}, key);
  Trainee trainee = trainee_of(model, kernel_for(model.bowl()), std::move(learner));
  trainee.annealable.visible = visible;
  trainee.name = "neural energy";
  trainee.summary = {{"units", text_of(visible)},
                     {"hidden layers", request.layers},
                     {"parameters", std::to_string(model.parameters().values().size())}};
  trainee.pictures = [&](const Context& inner) { return pictures_of(model, key, inner); };
  return run_training(request, data, std::move(trainee), context);
}

}  // namespace ergodic
