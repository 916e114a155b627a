// Classifying rows by a network, whose hidden layers may be those of machines that were trained without labels
// (Hinton and Salakhutdinov 2006).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/machine/classifier.hpp"
#include "ergodic/machine/machine.hpp"
#include "ergodic/model/network.hpp"
#include "ergodic/run/fit.hpp"
#include "ergodic/trainer/network_learner.hpp"

namespace ergodic {

/// DataError unless every row has a label and there are at least two classes.
void require_labels(const Dataset& data);
/// So many rows of each class, chosen at random; DataError if a class has fewer.
Dataset rows_per_class(const Dataset& data, std::size_t count, Key key);

/// The activation that does better for so many labelled rows, unless it is given. Hidden layers that stay as they are
/// remain sigmoids.
Activation settled_activation(std::optional<Activation> given, bool frozen, std::size_t labelled_rows);

/// A network of these hidden layers with random weights.
Network random_network(std::size_t inputs, std::span<const std::uint64_t> hidden, std::size_t classes,
                       Activation activation, Key key);
/// A network for such rows whose hidden layers are those of the machine, or rectified units close to them
/// (rectified.hpp). UsageError if the machine has no hidden units whose expected values a network can compute, or takes
/// other rows.
Network network_from(const Machine& machine, const Dataset& rows, std::size_t classes, Activation activation,
                     const Context& context);
/// The machine whose hidden layers a network is to begin with, ready to be trained: of the kind of this name, or, if
/// that is `rbm` and there are several hidden layers, a deep belief network, which is RBMs on top of each other.
/// UsageError if the kind cannot have these layers.
std::unique_ptr<Machine> machine_to_pretrain(std::string_view model, std::span<const std::uint64_t> hidden,
                                             const TrainingData& data, Key key, const Context& context);

/// How such a machine is trained: as others, but for longer and with a higher rate, unless they are given.
TrainOptions pretraining_options(const Machine& machine, const Dataset& rows, std::optional<std::uint64_t> updates,
                                 std::optional<double> rate);

struct ClassifierOptions {
  TrainOptions training;  ///< batch, updates or epochs, rate and its schedule
  NetworkLearning network;
};

/// The options with every field filled in, for a network with so many layers of weights, so many labelled rows, and so
/// many rows in all.
ClassifierOptions settled(ClassifierOptions options, Activation activation, std::size_t depth, std::size_t rows,
                          std::size_t all_rows);
/// How many rows are on their way through the network at once: those of a mini-batch, and those that adversaries move.
std::size_t rows_under_way(const ClassifierOptions& options);

/// Training a network by back-propagation. Like a Fit it can be stepped, paused, saved and continued.
class ClassifierFit {
 public:
  /// The network and the data must outlive this. `all_rows` are rows that may have no label, if they are to take part
  /// in smoothing; if null, those of the data.
  ClassifierFit(Network& network, const TrainingData& data, const ClassifierOptions& options, Key key,
                const Dataset* all_rows = nullptr);

  const ClassifierOptions& options() const { return options_; }
  const Trainer& trainer() const { return *trainer_; }
  /// Goes on to the end, for so many updates, or until the observer asks to stop; at the end the network has the best
  /// parameters that there were, by the error on held-out rows. Whether it is finished.
  bool run(const std::function<void()>& after_update, const Context& context,
           std::uint64_t updates = ~std::uint64_t{0});

  /// All that a checkpoint needs beside the parameters of the network; and back.
  TrainingState state() const { return trainer_->state(); }
  void restore(const Parameters& parameters, TrainingState state);

 private:
  Network& network_;
  ClassifierOptions options_;
  std::optional<Trainer> trainer_;
};

/// p(y | what is known of x), a row for each row. A network takes values that are missing for 0.5; a machine with
/// labels draws them, by chains of so many sweeps at each such row. Throws Stopped if the observer asks to stop.
Matrix<float> class_probabilities(const RowClassifier& classifier, const Dataset& rows, std::uint64_t sweeps, Key key,
                                  const Context& context);

/// How well a classifier names the classes of rows.
struct ClassifierReport {
  std::size_t rows = 0;
  ClassScores scores;
  double error_lower = 0.0, error_upper = 0.0;  ///< Wilson's 95 % interval of the error
  double calibration = 0.0;  ///< expected calibration error (Guo et al. 2017): how far confidence is from being right
  Matrix<std::uint64_t> confusion;  ///< rows of each class, by the class that was found
};
ClassifierReport judge(MatrixView<const float> probabilities, std::span<const int> labels);

}  // namespace ergodic
