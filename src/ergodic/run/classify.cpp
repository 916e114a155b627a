#include "ergodic/run/classify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "ergodic/core/error.hpp"
#include "ergodic/core/permutation.hpp"
#include "ergodic/core/stopped.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/model/rectified.hpp"
#include "ergodic/run/open_rows.hpp"

namespace ergodic {
namespace {

constexpr std::uint64_t kEpochs = 30, kFewestUpdates = 3000, kFewestSmoothUpdates = 6000;
constexpr double kSmoothingShare = 0.3;  // if there are rows without a label
constexpr double kSgdRate = 0.4, kAdamRate = 0.001;
constexpr double kCarefulSgdRate = 0.1;          // of units that are not bounded, or left out at random
constexpr double kMostCarefulSgdRate = 0.05;     // of both: 784-500-1000 diverged at 0.1
constexpr std::uint64_t kPretrainingLength = 2;  // times the updates of training alone
constexpr std::size_t kManyLabels = 10000;       // from which on rectified units do better than sigmoids
constexpr std::size_t kRectifiedRows = 2000;     // that say which rectified units are close to sigmoids
constexpr char kHidden[] = "hidden", kRbmName[] = "rbm", kDbnName[] = "dbn", kDbmName[] = "dbm";

bool complete_row(const Dataset& data, std::size_t row) {
  for (std::size_t i = 0; i < data.units(); ++i) {
    if (!data.is_known(row, i)) return false;
  }
  return true;
}

}  // namespace

/// Thirty epochs, but more on small data.
ClassifierOptions settled(ClassifierOptions options, Activation activation, std::size_t depth, std::size_t rows,
                          std::size_t all_rows) {
  const bool softmax_alone = options.network.frozen || depth == 1;
  if (!options.network.adversarial) options.network.adversarial = softmax_alone ? 0.0 : kAdversarialShare;
  if (!options.network.smoothing) options.network.smoothing = softmax_alone || all_rows <= rows ? 0.0 : kSmoothingShare;
  TrainDefaults defaults;
  const Dropout& dropout = options.network.dropout;
  const bool unbounded = activation == Activation::kRelu, dropping = dropout.inputs > 0.0 || dropout.hidden > 0.0;
  defaults.learning_rate = std::holds_alternative<Adam>(options.network.optimiser) ? kAdamRate
                           : unbounded && dropping                                 ? kMostCarefulSgdRate
                           : unbounded || dropping                                 ? kCarefulSgdRate
                                                                                   : kSgdRate;
  const std::uint64_t batch = std::min<std::uint64_t>(options.training.batch.value_or(defaults.batch), rows);
  defaults.updates = std::max(*options.network.smoothing > 0.0 ? kFewestSmoothUpdates : kFewestUpdates,
                              kEpochs * ((rows + batch - 1) / batch));
  options.training = settled(options.training, defaults, rows);
  return options;
}

std::size_t rows_under_way(const ClassifierOptions& options) {
  const std::size_t passes =
      1 + (*options.network.adversarial > 0.0 ? 1 : 0) + (*options.network.smoothing > 0.0 ? 2 : 0);
  return passes * *options.training.batch;
}

void require_labels(const Dataset& data) {
  if (data.labels.size() != data.rows()) {
    throw DataError(
        fmt::format("{}: expected a label for each row, found none; give them with --labels or "
                    "--label-column",
                    data.name));
  }
  const auto negative = std::ranges::find_if(data.labels, [](int label) { return label < 0; });
  if (negative != data.labels.end()) {
    throw DataError(
        fmt::format("{}: row {}: expected a label from 0 up, found {}; leave rows without a label out, or take "
                    "`ergodic train --model class-rbm`, which learns from them",
                    data.name, negative - data.labels.begin() + 1, *negative));
  }
  const auto [least, most] = std::ranges::minmax(data.labels);
  if (least == most) {
    throw DataError(
        fmt::format("{}: expected rows of at least two classes, found only the label {}", data.name, least));
  }
}

Dataset rows_per_class(const Dataset& data, std::size_t count, Key key) {
  std::vector<std::size_t> chosen(data.classes());
  std::vector<std::uint32_t> rows;
  for (const std::uint32_t row : permutation(data.rows(), key.at(Purpose::kSplit))) {
    std::size_t& of_class = chosen[static_cast<std::size_t>(data.labels[row])];
    if (of_class == count) continue;
    ++of_class;
    rows.push_back(row);
  }
  for (std::size_t c = 0; c < chosen.size(); ++c) {
    if (chosen[c] < count) {
      throw DataError(fmt::format("{}: expected {} rows of each class, found {} of class {}; {}", data.name, count,
                                  chosen[c], c,
                                  chosen[c] > 0 ? "take fewer --labels-per-class" : "number classes without a gap"));
    }
  }
  std::ranges::sort(rows);
  return select(data, rows);
}

Activation settled_activation(std::optional<Activation> given, bool frozen, std::size_t labelled_rows) {
  return given.value_or(!frozen && labelled_rows >= kManyLabels ? Activation::kRelu : Activation::kSigmoid);
}

Network random_network(std::size_t inputs, std::span<const std::uint64_t> hidden, std::size_t classes,
                       Activation activation, Key key) {
  std::vector<std::size_t> sizes{inputs};
  sizes.insert(sizes.end(), hidden.begin(), hidden.end());
  sizes.push_back(classes);
  Network out(sizes, activation);
  // The softmax begins without weights: all classes have the same probability.
  for (std::size_t k = 0; k + 1 < out.depth(); ++k) out.randomise(k, key.at(Purpose::kInitialWeights));
  return out;
}

Network network_from(const Machine& machine, const Dataset& rows, std::size_t classes, Activation activation,
                     const Context& context) {
  const std::size_t inputs = rows.units();
  const std::vector<NetworkLayer> layers = machine.network_layers(rows, context);
  require(!layers.empty(), fmt::format("a {} has no hidden layer that a network could begin with; take an RBM with "
                                       "two-valued hidden units",
                                       machine.kind().title));
  require(
      layers[0].weights.rows() == inputs,
      fmt::format("the machine has {} visible units, the data {} values; take a machine that was trained on such rows",
                  layers[0].weights.rows(), inputs));
  std::vector<std::size_t> sizes{inputs};
  for (const NetworkLayer& layer : layers) sizes.push_back(layer.bias.size());
  sizes.push_back(classes);
  Network out(sizes, Activation::kSigmoid);
  for (std::size_t k = 0; k < layers.size(); ++k) out.set_layer(k, layers[k]);
  if (activation == Activation::kSigmoid) return out;
  std::vector<std::uint32_t> some = permutation(rows.rows(), Key{}.at(Purpose::kMonitor));
  some.resize(std::min(some.size(), kRectifiedRows));
  Matrix<float> values(some.size(), inputs);
  gather_inputs(rows, some, values, context);
  return rectified(out, values, context);
}

std::unique_ptr<Machine> machine_to_pretrain(std::string_view model, std::span<const std::uint64_t> hidden,
                                             const TrainingData& data, Key key, const Context& context) {
  const bool one_layer = hidden.size() == 1;
  // RBMs, each on top of the one below, are a deep belief network without labels.
  const MachineKind& kind = kind_named(model == kRbmName && !one_layer ? kDbnName : model);
  const auto options = kind.options();
  const auto found = std::ranges::find_if(options, [](const Option& option) { return option.name == kHidden; });
  const bool takes_one = found != options.end() && found->type == OptionType::kCount;
  require(!takes_one || one_layer, fmt::format("a {} has one hidden layer, found {}; give one number, or take {} or {}",
                                               kind.title, hidden.size(), kDbnName, kDbmName));
  const Value layers = takes_one ? Value(hidden[0]) : Value(Counts(hidden.begin(), hidden.end()));
  return kind.make({{kHidden, layers}}, data.train, key, context);
}

TrainOptions pretraining_options(const Machine& machine, const Dataset& rows, std::optional<std::uint64_t> updates,
                                 std::optional<double> rate) {
  TrainOptions out;
  const TrainDefaults defaults = train_defaults(machine, rows, out);
  out.updates = updates.value_or(kPretrainingLength * defaults.updates);
  out.learning_rate = rate.value_or(machine.kind().pretraining_gain * defaults.learning_rate);
  return out;
}

ClassifierFit::ClassifierFit(Network& network, const TrainingData& data, const ClassifierOptions& options, Key key,
                             const Dataset* all_rows)
    : network_(network),
      options_(settled(options, network.activation(), network.depth(), data.train.rows(),
                       all_rows ? all_rows->rows() : data.train.rows())) {
  auto learner = std::make_unique<NetworkLearner>(network, data.train, data.held_out, options_.network, key, all_rows);
  trainer_.emplace(std::move(learner), data.train, options_.training, key);
}

bool ClassifierFit::run(const std::function<void()>& after_update, const Context& context, std::uint64_t updates) {
  context.stage({"fine-tuning", "updates"});
  return trainer_->run(after_update, context, updates);
}

void ClassifierFit::restore(const Parameters& parameters, TrainingState state) {
  std::ranges::copy(parameters.values(), network_.parameters().values().begin());
  trainer_->restore(std::move(state));
}

Matrix<float> class_probabilities(const RowClassifier& classifier, const Dataset& rows, std::uint64_t sweeps, Key key,
                                  const Context& context) {
  if (rows.complete() || !classifier.machine) return classifier.probabilities(rows, context);
  const Machine& machine = *classifier.machine;
  Matrix<float> out(rows.rows(), classifier.classes);
  std::vector<std::uint32_t> whole, open;
  for (std::uint32_t r = 0; r < rows.rows(); ++r) (complete_row(rows, r) ? whole : open).push_back(r);
  Dataset known = select(rows, whole);
  known.known = {};
  const Matrix<float> exact = classifier.probabilities(known, context);
  for (std::size_t k = 0; k < whole.size(); ++k) std::ranges::copy(exact.row(k), out.row(whole[k]).begin());

  Dataset unlabelled = select(rows, open);
  unlabelled.labels.assign(open.size(), -1);
  const OpenRows given = open_rows_of(machine.visible(), machine.rows_from(std::move(unlabelled)), key);
  OpenDrawOptions chains;
  chains.sweeps = sweeps;
  chains.averaged = Averaged::kVisible;
  const auto drawn = draw_open(machine, given, chains, key, context);
  if (!drawn) throw Stopped();
  for (std::size_t k = 0; k < open.size(); ++k) {
    std::ranges::copy(drawn->means.row(k).subspan(classifier.inputs, classifier.classes), out.row(open[k]).begin());
  }
  return out;
}

ClassifierReport judge(MatrixView<const float> probabilities, std::span<const int> labels) {
  constexpr std::size_t kBins = 15;
  constexpr double kDeviations = 1.959963984540054;  // of 95 % of a normal distribution
  struct Bin {
    double confidence = 0.0, right = 0.0;
  };
  ClassifierReport out;
  out.rows = labels.size();
  out.scores = class_scores(probabilities, labels);
  out.confusion = Matrix<std::uint64_t>(probabilities.cols(), probabilities.cols());
  std::vector<Bin> bins(kBins);
  for (std::size_t r = 0; r < labels.size(); ++r) {
    const std::span<const float> row = probabilities.row(r);
    const auto found = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
    const auto label = static_cast<std::size_t>(labels[r]);
    ++out.confusion(label, found);
    Bin& bin = bins[std::min(kBins - 1, static_cast<std::size_t>(row[found] * static_cast<float>(kBins)))];
    bin.confidence += row[found];
    bin.right += label == found ? 1.0 : 0.0;
  }
  const auto n = static_cast<double>(std::max<std::size_t>(out.rows, 1));
  for (const Bin& bin : bins) out.calibration += std::abs(bin.confidence - bin.right) / n;
  // Wilson (1927).
  const double p = out.scores.error, z2 = kDeviations * kDeviations;
  const double middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
  const double half = kDeviations * std::sqrt(p * (1.0 - p) / n + z2 / (4.0 * n * n)) / (1.0 + z2 / n);
  out.error_lower = std::max(0.0, middle - half);
  out.error_upper = std::min(1.0, middle + half);
  return out;
}

}  // namespace ergodic
