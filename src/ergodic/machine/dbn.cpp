// The kind `dbn`: deep belief networks of {0,1} units, with the label of a row at the top if the data has labels.
#include "ergodic/model/dbn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/core/number_text.hpp"
#include "ergodic/estimator/dbn_path.hpp"
#include "ergodic/estimator/importance.hpp"
#include "ergodic/format/bytes.hpp"
#include "ergodic/kernels/float_product.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/machine/labels.hpp"
#include "ergodic/machine/memory.hpp"
#include "ergodic/machine/pictures.hpp"
#include "ergodic/machine/rbm.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/model/exact_rbm.hpp"
#include "ergodic/model/sigmoid_layers.hpp"
#include "ergodic/sampler/dbn_sampling.hpp"
#include "ergodic/store/tensors.hpp"
#include "ergodic/trainer/dbn_learner.hpp"

namespace ergodic {

extern const MachineKind kDbnKind;

namespace {

constexpr std::size_t kPicturedPairs = 40, kMostUnits = 1000000;
constexpr Key kGreyKey{};  // of grey levels that are classified

struct DbnOptions {
  Counts hidden{500, 500, 2000};
  bool without_labels = false;
  std::uint64_t up_down_updates = 0;
  double up_down_rate = DbnLearning{}.up_down_rate;
  std::optional<double> weight_scale;
};

const Spec<DbnOptions>& spec() {
  static const Spec<DbnOptions> made = [] {
    Spec<DbnOptions> out;
    out.group("Machine")
        .add("hidden", &DbnOptions::hidden, "units of each hidden layer, the lowest first, two layers at least")
        .range(1, kMostUnits)
        .add("without-labels", &DbnOptions::without_labels,
             "leave labels out, if the data has any; else they are learned beside the layer below the highest")
        .add("up-down-updates", &DbnOptions::up_down_updates,
             "the last of all updates, which refine all layers together by the wake-sleep algorithm")
        .range(0, 1e12)
        .add("up-down-rate", &DbnOptions::up_down_rate, "learning rate at their start")
        .range(1e-9, 1000.0)
        .advanced()
        .add("weight-scale", &DbnOptions::weight_scale, "standard deviation of the initial weights of each layer")
        .range(0.0, 100.0)
        .automatic("0.3 over the root of the units of the larger layer")
        .advanced();
    return out;
  }();
  return made;
}

/// The way up through a stage without its last visible units, which are labels. All of them together count as one, each
/// with the same share, or not at all.
NetworkLayer layer_from(const Rbm& stage, std::size_t labels, bool shared = true) {
  const MatrixView<const float> weights = stage.weights();
  const std::size_t below = weights.rows() - labels;
  NetworkLayer out{Matrix<float>(below, weights.cols()), {stage.hidden_bias().begin(), stage.hidden_bias().end()}};
  for (std::size_t i = 0; i < below; ++i) std::ranges::copy(weights.row(i), out.weights.row(i).begin());
  for (std::size_t j = 0; shared && labels > 0 && j < out.bias.size(); ++j) {
    double sum = 0.0;
    for (std::size_t c = 0; c < labels; ++c) sum += weights(below + c, j);
    out.bias[j] = static_cast<float>(out.bias[j] + sum / static_cast<double>(labels));
  }
  return out;
}

class DbnMachine final : public Machine {
 public:
  DbnMachine(Dbn model, DbnLearning learning) : model_(std::move(model)), learning_(learning) {}

  const MachineKind& kind() const override { return kDbnKind; }
  Layer visible() const override { return model_.visible_layer(); }
  std::vector<Layer> layers() const override { return model_.layers(); }
  const Parameters& parameters() const override { return model_.parameters(); }
  void set_parameters(const Parameters& values, const Context&) override { model_.set_parameters(values); }
  bool same_shape(const Machine& other) const override {
    const auto* dbn = dynamic_cast<const DbnMachine*>(&other);
    return dbn && model_.shape() == dbn->model_.shape();
  }
  Facts facts() const override {
    const DbnShape& shape = model_.shape();
    Facts out{{"hidden", std::vector<std::uint64_t>(shape.hidden.begin(), shape.hidden.end())},
              {"hidden_type", std::string(Bernoulli::kName)}};
    if (shape.classes > 0) out.push_back({"classes", std::uint64_t{shape.classes}});
    out.push_back({"recognition", std::string(shape.untied ? "weights of its own" : "the generative weights")});
    return out;
  }
  void put(Tensors& tensors) const override {
    if (model_.shape().classes > 0) tensors.metadata["classes"] = std::to_string(model_.shape().classes);
    put_parameters(tensors, parameters());
  }
  Dataset rows_from(Dataset data) const override {
    if (model_.shape().classes == 0) return data;
    return with_label_units(std::move(data), model_.shape().values, model_.shape().classes);
  }

  void initialise(const Dataset& rows, Key key, const Context& context) {
    ergodic::initialise(model_, rows, learning_, key, context);
  }

  Chains start(std::size_t count, Key key, const Context& context) const override {
    Chains top = independent_start(model_.top(), count, key, context);
    Chains out;
    out.layers = model_.draw_down(model_.below_top(top.layers[Rbm::kVisible]), {key, Purpose::kInitialChains}, context);
    out.layers[0] = model_.joined_visible(out.layers[0], top.layers[Rbm::kVisible]);
    out.layers.push_back(std::move(top.layers[Rbm::kHidden]));
    return out;
  }
  Chains start_at(State visible, Key key, const Context& context) const override {
    const LayerDraws draws{key, Purpose::kInitialChains};
    Chains out;
    out.layers = model_.draw_up(model_.values_of(visible), model_.depth() - 1, draws, context);
    State top[] = {model_.joined_top(out.layers.back(), visible),
                   model_.top().make_state(Rbm::kHidden, visible.chains())};
    model_.top().resample(Rbm::kHidden, top, draws.at(model_.depth()), 0, context);
    out.layers[0] = std::move(visible);
    out.layers.push_back(std::move(top[Rbm::kHidden]));
    return out;
  }
  State visible_of(const Chains& chains) const override { return chains.layers[0]; }
  std::size_t hidden_layers() const override { return model_.depth(); }
  std::optional<State> hidden_of(const Chains& chains, std::size_t layer) const override {
    return chains.layers[layer];
  }
  std::vector<double> energies(const Chains& chains, const Context& context) const override {
    return model_.energy(chains.layers, context);
  }
  Bits mask_of(const Bits& visible) const override { return visible; }
  bool masks_by_chain() const override { return true; }
  std::unique_ptr<Sampling> sampling(const SamplingOptions& options, const Context& context) const override {
    return make_sampling(options, model_, context);
  }
  /// The lower layers are draws given chains of two layers.
  bool bounded_times(const SamplingOptions& options) const override {
    return options.sampler != kTempering && options.kernel.fixed.rows() == 0 &&
           plain_sampler(options, GibbsRow::kName) == GibbsRow::kName;
  }
  std::vector<WatchedNumber> watched_numbers() const override {
    return {{"free energy of the top",
             [this](LayerStates x, const Context& context) {
               return model_.top().free_energy(model_.joined_top(x[model_.depth() - 1], x[0]), context);
             }},
            watched_mean(visible())};
  }
  /// Those of the RBM at the top.
  std::vector<WatchedNumber> watched_numbers_of_learner() const override {
    return ergodic::watched_numbers(model_.top());
  }
  std::optional<Matrix<float>> means_of(const Chains& chains, const Context& context) const override {
    return visible_means(chains.layers[1], plain_values(chains.layers[0]), context);
  }
  std::optional<Matrix<float>> reconstructions(const State& rows, Key key, const Context& context) const override {
    Chains chains = start_at(rows, key, context);
    State top[] = {model_.top().make_state(Rbm::kVisible, rows.chains()), chains.layers.back()};
    const LayerDraws down{key, Purpose::kGibbs};
    model_.top().resample(Rbm::kVisible, top, down.at(model_.depth()), 0, context);
    const std::vector<State> below = model_.draw_down(model_.below_top(top[0]), down, context);
    return visible_means(below[1], plain_values(model_.joined_visible(below[0], top[0])), context);
  }

  /// On the way up by recognition; labels have no part in it.
  std::optional<Matrix<float>> hidden_means(const State& rows, std::size_t layer,
                                            const Context& context) const override {
    const std::vector<NetworkLayer> layers = recognition_layers();
    return raised(std::span(layers).first(layer), plain_values(model_.values_of(rows)), context);
  }
  std::vector<NetworkLayer> network_layers(const Dataset&, const Context&) const override {
    return recognition_layers();
  }
  std::optional<ClassUnits> class_units() const override {
    if (model_.shape().classes == 0) return std::nullopt;
    return ClassUnits{model_.shape().values, model_.shape().classes};
  }
  std::optional<Matrix<float>> class_probabilities(const Dataset& data, const Context& context) const override {
    if (model_.shape().classes == 0) return std::nullopt;
    const bool labelled = data.units() == units_of(visible());
    const Layer layer = labelled ? visible() : Layer(Bernoulli{model_.shape().values});
    require_fit(layer, data);
    const State rows = all_rows(layer, data, kGreyKey);
    return label_probabilities(plain_values(labelled ? model_.values_of(rows) : rows), context);
  }

  std::optional<std::vector<double>> free_energies(const State& rows, const Context& context) const override {
    if (!model_.summable()) return std::nullopt;
    auto out = model_.log_sums(rows, context);
    if (out) {
      for (double& sum : *out) sum = -sum;
    }
    return out;
  }
  std::optional<std::vector<Estimate>> log_sum_bounds(const State& rows, std::size_t draws, std::size_t first_row,
                                                      Key key, const Context& context) const override {
    return importance_bounds(model_, rows, draws, first_row, key, context);
  }
  double exact_bits() const override { return enumerated_bits(model_.top()); }
  std::optional<Estimate> exact_log_z(const Context& context) const override {
    if (exact_bits() > most_enumerated_bits(model_.top())) return std::nullopt;
    const std::optional<double> log_z = ergodic::exact_log_z(model_.top(), context);
    return log_z ? std::optional(exactly(*log_z)) : std::nullopt;
  }
  std::unique_ptr<Path> path(const State& rows, const std::vector<Parameters>&, const Context& context) const override {
    return path_to(model_, rows, context);
  }
  void require_stations() const override {
    throw UsageError(
        "a deep belief network is trained layer by layer, so that snapshots are no path to it; leave out "
        "--path");
  }

  std::unique_ptr<Learner> learner(const Dataset& train, const Dataset& held_out, const TrainOptions& options, Key key,
                                   const Context& context) override {
    return std::make_unique<DbnLearner>(model_, train, held_out, options, learning_, key, context);
  }

  /// Of labelled rows, the values alone.
  Image picture(const Matrix<float>& values, PictureShape shape, const Context&) const override {
    return picture_of_values(values_in(values), Bernoulli{model_.shape().values}, shape);
  }
  /// Of all layers, the lowest first.
  std::optional<Image> filters(PictureShape shape, std::size_t count) const override {
    return filters_of_layers(weights_to_values(), shape, count);
  }
  std::vector<Picture> pictures(const Dataset& data, Key key, const Context& context) const override {
    const State shown = first_rows(visible(), data, kPicturedPairs, key);
    std::vector<Picture> out{picture_of_samples(*this, data.shape, key, context),
                             {"Data, each beside its reconstruction from the highest layer",
                              picture_of_pairs(Bernoulli{model_.shape().values}, model_.values_of(shown),
                                               values_in(*reconstructions(shown, key, context)), data.shape)}};
    for (Picture& picture : pictures_of_layers(weights_to_values(), data.shape)) out.push_back(std::move(picture));
    return out;
  }

 private:
  /// The way up by recognition. The highest layer sees each label with the same share.
  std::vector<NetworkLayer> recognition_layers() const {
    std::vector<NetworkLayer> out;
    for (std::size_t k = 0; k + 1 < model_.depth(); ++k) out.push_back(layer_from(model_.recognition(k), 0));
    out.push_back(layer_from(model_.top(), model_.shape().classes));
    return out;
  }
  /// Plain values without labels.
  Matrix<float> values_in(const Matrix<float>& visible) const {
    Matrix<float> out(visible.rows(), model_.shape().values);
    for (std::size_t r = 0; r < out.rows(); ++r) std::copy_n(visible.row(r).begin(), out.cols(), out.row(r).begin());
    return out;
  }
  /// W_1 ... W_k of each hidden layer: what its units mean for the values.
  std::vector<Matrix<float>> weights_to_values() const {
    std::vector<Matrix<float>> out;
    for (std::size_t k = 0; k < model_.depth(); ++k) {
      NetworkLayer own = layer_from(model_.stage(k), k + 1 == model_.depth() ? model_.shape().classes : 0);
      if (k > 0) {
        Matrix<float> next(out.back().rows(), own.weights.cols());
        add_product(out.back(), own.weights, next, {});
        own.weights = std::move(next);
      }
      out.push_back(std::move(own.weights));
    }
    return out;
  }
  /// p(y | x) is proportional to exp(-F_top(E[h_{L-1} | x], y)).
  Matrix<float> label_probabilities(Matrix<float> values, const Context& context) const {
    const std::size_t classes = model_.shape().classes, first = units_of(model_.top().visible()) - classes;
    std::vector<NetworkLayer> layers = recognition_layers();
    layers.back() = layer_from(model_.top(), classes, false);
    const Matrix<float> below = raised(std::span(layers).first(layers.size() - 1), std::move(values), context),
                        fields = fields_of(layers.back(), below, context);
    Matrix<float> out(fields.rows(), classes);
    context.for_blocks(out.rows(), 4, [&](std::size_t begin, std::size_t end) {
      std::vector<double> at_label(fields.cols()), logs(classes);
      for (std::size_t r = begin; r < end; ++r) {
        for (std::size_t c = 0; c < classes; ++c) {
          const std::span<const float> weights = model_.top().weights().row(first + c);
          for (std::size_t j = 0; j < at_label.size(); ++j) at_label[j] = double{fields(r, j)} + weights[j];
          logs[c] = model_.top().visible_bias()[first + c] + log_sum(model_.top().hidden(), {at_label, {}});
        }
        const double largest = *std::ranges::max_element(logs);
        double sum = 0.0;
        for (double& log : logs) sum += log = portable_exp(log - largest);
        for (std::size_t c = 0; c < classes; ++c) out(r, c) = static_cast<float>(logs[c] / sum);
      }
    });
    return out;
  }

  /// E[values | h_1], beside labels as they are.
  Matrix<float> visible_means(const State& first_hidden, Matrix<float> visible, const Context& context) const {
    const Matrix<float> means = model_.stage(0).conditional_means(Rbm::kVisible, first_hidden, context);
    for (std::size_t r = 0; r < means.rows(); ++r) std::ranges::copy(means.row(r), visible.row(r).begin());
    return visible;
  }

  Dbn model_;
  DbnLearning learning_;
};

std::unique_ptr<Machine> make(const Settings& settings, const Dataset& data, Key key, const Context& context) {
  const DbnOptions options = spec().made(settings);
  require_kind(Bernoulli{data.units()}, data);
  require_complete(data);
  DbnShape shape{data.units(), {options.hidden.begin(), options.hidden.end()}, 0, options.up_down_updates > 0};
  if (!data.labels.empty() && !options.without_labels) {
    require_every_label(data);
    shape.classes = label_classes(data);
  }
  const DbnLearning learning{options.weight_scale, options.up_down_updates, options.up_down_rate};
  Dbn model(shape);
  announce_memory(model.layers(), shape.untied, data, context);
  auto out = std::make_unique<DbnMachine>(std::move(model), learning);
  out->initialise(out->rows_from(data), key, context);
  return out;
}

std::unique_ptr<Machine> read(const Tensors& tensors, const std::string& where) {
  DbnShape shape;
  const auto name = [](std::size_t k, const char* slot) { return fmt::format("layer{}.{}", k + 1, slot); };
  while (tensors.find(name(shape.hidden.size(), "weights")) || shape.hidden.size() < Dbn::kFewestLayers) {
    const auto [below, above] = matrix_shape(tensors, name(shape.hidden.size(), "weights"), where);
    if (shape.hidden.empty()) shape.values = below;
    shape.hidden.push_back(above);
  }
  for (std::size_t k = 0; k < shape.hidden.size(); ++k) {
    shape.untied = shape.untied || tensors.find(name(k, "recognition_weights"));
  }
  if (tensors.metadata.contains("classes")) {
    const std::string& text = tensors.metadata.at("classes");
    const auto classes = number_in<std::size_t>(text);
    const std::size_t most = matrix_shape(tensors, name(shape.hidden.size() - 1, "weights"), where).first;
    if (!classes || *classes < 2 || *classes >= most) {
      throw DataError(
          fmt::format("{}: metadata: expected 'classes' from 2 to {}, found {}", where, most - 1, excerpt(text)));
    }
    shape.classes = *classes;
  }
  try {
    Dbn model(shape);
    model.set_parameters(parameters_from(tensors, model.parameters(), where));
    return std::make_unique<DbnMachine>(std::move(model), DbnLearning{});
  } catch (const UsageError& e) {
    throw DataError(fmt::format("{}: {}", where, e.what()));
  }
}

/// Each layer as an RBM has it.
TrainDefaults defaults(const TrainingCase& now) {
  TrainDefaults out;
  std::uint64_t updates = 0;
  for (std::size_t k = 0; k + 1 < now.layers.size(); ++k) {
    const std::size_t below = units_of(now.layers[k]), above = units_of(now.layers[k + 1]);
    const TrainDefaults own =
        rbm_defaults({now.method, now.data, {Bernoulli{below}, now.layers[k + 1]}, below * above + below + above});
    if (k == 0) out = own;
    updates += own.updates;
  }
  out.updates = updates;
  return out;
}

constexpr const char* kTraining[] = {kLoopGroup, kGradientGroup};
constexpr std::string_view kMetadata[] = {"classes"};

}  // namespace

const MachineKind kDbnKind{"dbn",
                           "deep belief network",
                           "deep belief network: directed layers below an RBM, trained one by one",
                           [] { return spec().options(); },
                           kTraining,
                           {defaults, "100, by exact gradients 1000",
                            "what RBMs of each two layers have, together, divided evenly among the layers",
                            "what an RBM of the first two layers has; that of the others is in proportion to theirs",
                            "what an RBM of the first two layers has"},
                           false,
                           [](const Settings&) { return ValueKind::kBits; },
                           make,
                           read,
                           kMetadata,
                           4.0};

}  // namespace ergodic
