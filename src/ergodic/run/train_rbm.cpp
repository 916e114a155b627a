// `ergodic train --model rbm`.
#include <fmt/format.h>

#include <algorithm>

#include "ergodic/run/data_request.hpp"
#include "ergodic/run/memory.hpp"
#include "ergodic/run/pictures.hpp"
#include "ergodic/run/training.hpp"
#include "ergodic/sampler/gibbs.hpp"
#include "ergodic/trainer/rbm_learner.hpp"

namespace ergodic {
namespace {

constexpr std::uint64_t kStandardHidden = 500;
constexpr std::size_t kPicturedSamples = 100;
constexpr std::size_t kPicturedPairs = 40;
constexpr std::uint64_t kPictureSweeps = 300;

Layer hidden_layer(const TrainRequest& request) {
  const std::size_t letters = request.hidden_type == UnitType::kPotts ? request.hidden_letters : 0;
  return make_layer(name_of(request.hidden_type), request.hidden * std::max<std::size_t>(letters, 1), letters);
}

std::vector<Picture> pictures_of(const Rbm& model, const Dataset& data, Key key, const Context& context) {
  Chains chains = far_start(model, kPicturedSamples, key, context);
  for (std::uint64_t s = 0; s < kPictureSweeps; ++s) step(Gibbs{}, model, chains, key, context);
  const State shown = first_rows(model.visible(), data, kPicturedPairs, key);
  return {{fmt::format("Samples: {} chains after {} sweeps, expected values", kPicturedSamples, kPictureSweeps),
           picture_of_rows(drawable(plain_means(model, chains.layers[Rbm::kHidden], context), model.visible()),
                           data.shape)},
          {"Data, each beside its reconstruction",
           picture_of_pairs(model.visible(), shown, reconstructions(model, shown, key, context), data.shape)},
          {"Filters: the hundred strongest hidden units", picture_of_filters(model, data.shape, 100)}};
}

}  // namespace

TrainResult train_rbm(TrainRequest request, const Context& context) {
  require(request.method != Method::kPseudo,
          "--method pseudo is for --model boltzmann, whose units depend on no hidden ones; take pcd, cd or exact");
  if (request.hidden == 0) request.hidden = kStandardHidden;
  const TrainingData data = prepare(request);
  const Key key{request.seed};
  const Layer visible = visible_layer(request, data.train), hidden = hidden_layer(request);
  announce_memory({visible, hidden, request.chains, request.batch, &data.train}, context);
  Rbm model(visible, hidden);
  initialise(model, data.train, request.weight_scale, key, context);
  auto learner = std::make_unique<RbmLearner>(model, data.train, data.held_out, options_of(request), key, context);
  Trainee trainee = trainee_of(model, Gibbs{}, std::move(learner));
  trainee.annealable.visible = model.visible();
  trainee.name = "restricted Boltzmann machine";
  trainee.summary = {{"visible units", text_of(model.visible())}, {"hidden units", text_of(model.hidden())}};
  trainee.pictures = [&](const Context& inner) { return pictures_of(model, data.train, key, inner); };
  return run_training(request, data, std::move(trainee), context);
}

}  // namespace ergodic
