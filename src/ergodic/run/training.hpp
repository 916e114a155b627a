// The part of `ergodic train` that is the same for every machine that learns: data, checkpoints, the log, the clock.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/estimator/energy_path.hpp"
#include "ergodic/estimator/likelihood.hpp"
#include "ergodic/estimator/rbm_path.hpp"
#include "ergodic/estimator/station_path.hpp"
#include "ergodic/model/layer.hpp"
#include "ergodic/model/parameters.hpp"
#include "ergodic/report/html.hpp"
#include "ergodic/run/final_likelihood.hpp"
#include "ergodic/run/mixing.hpp"
#include "ergodic/run/train.hpp"
#include "ergodic/store/checkpoint.hpp"
#include "ergodic/store/model_file.hpp"
#include "ergodic/trainer/trainer.hpp"

namespace ergodic {

struct TrainingData {
  Dataset train, held_out;
  Settings settings;  ///< of the run, with what is in the data
};

/// Checks where the results go, reads the data, sets rows apart for the monitors, and fills in what the request leaves
/// to the data.
TrainingData prepare(TrainRequest& request);

/// What the loop is to do, as the request says.
TrainOptions options_of(const TrainRequest& request);

/// The visible layer that the request and the data ask for; DataError if they do not agree.
Layer visible_layer(const TrainRequest& request, const Dataset& data);
/// "784 bernoulli".
std::string text_of(const Layer& layer);

/// A machine that learns, whatever it is.
struct Trainee {
  std::unique_ptr<Learner> learner;
  std::function<const Parameters&()> parameters;
  std::function<void(const Parameters&)> set_parameters;
  std::function<void(const std::filesystem::path& path, const std::map<std::string, std::string>& notes)> save;

  /// How persistent chains move, and what is watched of them; empty for a machine without.
  std::function<void(Chains& chains, Key key, const Context& context)> sweep;
  std::vector<WatchedNumber> watched;
  bool bounded = false;  ///< as MixingWatch has it

  /// How its likelihood is found at the end.
  Annealable annealable;

  /// For the report: what it is, of which units, and what it shows.
  std::string name;
  std::vector<std::pair<std::string, std::string>> summary;
  std::function<std::vector<Picture>(const Context& context)> pictures;
};

/// The part that is the same for any machine with parameters, and for chains moved by this sampler; its report is still
/// to be filled in.
template <class Model, class Kernel>
Trainee trainee_of(Model& model, Kernel kernel, std::unique_ptr<Learner> learner) {
  Trainee out;
  out.sweep = [&model, kernel](Chains& chains, Key key, const Context& context) {
    step(kernel, model, chains, key, context);
  };
  out.watched = watched_numbers(model);
  out.bounded = std::is_same_v<Model, Rbm>;
  out.annealable.path = [&model](const State& rows, const Context& context) { return path_to(model, rows, context); };
  out.annealable.free_energy = [&model](const State& rows, const Budget&, Key, const Context& context) {
    const auto energies = free_energies(model, rows, context);
    return energies ? std::optional(mean_free_energy(*energies)) : std::nullopt;
  };
  out.learner = std::move(learner);
  out.parameters = [&model]() -> const Parameters& { return model.parameters(); };
  out.set_parameters = [&model](const Parameters& values) { model.update([&](Parameters& p) { p = values; }, {}); };
  out.save = [&model](const auto& path, const auto& notes) { save_model(path, model, notes); };
  return out;
}

/// Trains from the start or from a checkpoint, to the end or to a new checkpoint, and writes what was asked for.
TrainResult run_training(const TrainRequest& request, const TrainingData& data, Trainee trainee, const Context& outer);

/// The restricted machine.
TrainResult train_rbm(TrainRequest request, const Context& context);
/// The machine on a graph.
TrainResult train_boltzmann(TrainRequest request, const Context& context);
/// The energy that a perceptron learns.
TrainResult train_neural(TrainRequest request, const Context& context);

}  // namespace ergodic
