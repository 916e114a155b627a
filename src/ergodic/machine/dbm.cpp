// The kind `dbm`: deep Boltzmann machines.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/estimator/deep_path.hpp"
#include "ergodic/kernels/float_product.hpp"
#include "ergodic/machine/machine_of.hpp"
#include "ergodic/machine/memory.hpp"
#include "ergodic/machine/rbm.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/model/conditional.hpp"
#include "ergodic/model/deep_boltzmann.hpp"
#include "ergodic/model/exact_rbm.hpp"
#include "ergodic/model/line.hpp"
#include "ergodic/sampler/clamped_start.hpp"
#include "ergodic/store/tensors.hpp"
#include "ergodic/trainer/dbm_learner.hpp"
#include "ergodic/trainer/methods.hpp"

namespace ergodic {

extern const MachineKind kDbmKind;

namespace {

constexpr std::size_t kPicturedPairs = 40, kMeanFieldSteps = 30, kSummedUnits = 12, kNetworkRows = 2000;
constexpr char kSizes[] = "sizes";

struct DbmOptions {
  Counts hidden{500, 1000};
  std::uint64_t layer_updates = 0;
  DataSide data_side = DbmLearning{}.data_side;
  std::optional<double> weight_scale;
};

const Spec<DbmOptions>& spec() {
  static const Spec<DbmOptions> made = [] {
    Spec<DbmOptions> out;
    out.group("Machine")
        .add("hidden", &DbmOptions::hidden, "units of each hidden layer, the lowest first; at least two layers")
        .range(1, 1000000)
        .add("layer-updates", &DbmOptions::layer_updates,
             "the first of all updates, which train the layers one by one, divided evenly among them; 0: none")
        .range(0, 1e12)
        .add("data-side", &DbmOptions::data_side, "where the hidden layers of rows come from")
        .advanced()
        .add("weight-scale", &DbmOptions::weight_scale, "standard deviation of the initial weights")
        .range(0.0, 100.0)
        .automatic("0.3 over the root of the units of the larger side: even layers, or odd ones")
        .advanced();
    return out;
  }();
  return made;
}

Matrix<float> product(const Matrix<float>& a, const Factor& b, const Context& context) {
  Matrix<float> out(a.rows(), b.cols);
  add_product(a, b, out, context);
  return out;
}

std::string weights_slot(std::size_t layer) { return "weights" + std::to_string(layer); }
std::string bias_slot(std::size_t layer) { return "bias" + std::to_string(layer); }

class DbmMachine final : public MachineOf<DeepBoltzmann> {
 public:
  explicit DbmMachine(DeepBoltzmann model, const DbmLearning& learning = {})
      : MachineOf(std::move(model)), learning_(learning) {}

  const MachineKind& kind() const override { return kDbmKind; }
  bool same_shape(const Machine& other) const override {
    const DeepBoltzmann* deep = model_in<DeepBoltzmann>(other);
    return deep && deep->sizes() == model().sizes();
  }
  Facts facts() const override {
    return {{"hidden", std::vector<std::uint64_t>(model().sizes().begin() + 1, model().sizes().end())}};
  }
  void put(Tensors& tensors) const override;

  Chains start_at(State visible, Key key, const Context& context) const override {
    return clamped_start(model(), visible, key, context);
  }
  std::size_t hidden_layers() const override { return model().depth(); }
  std::optional<State> hidden_of(const Chains& chains, std::size_t layer) const override {
    return model().layer_part(chains.layers, layer);
  }
  std::optional<Matrix<float>> means_of(const Chains& chains, const Context& context) const override;
  /// By mean field.
  std::optional<Matrix<float>> hidden_means(const State& rows, std::size_t layer,
                                            const Context& context) const override {
    return std::move(mean_field(model(), plain_values(rows), kMeanFieldSteps, context)[layer - 1]);
  }
  std::optional<Matrix<float>> reconstructions(const State& rows, Key key, const Context& context) const override {
    return means_of(start_at(rows, key, context), context);
  }
  std::vector<NetworkLayer> network_layers(const Dataset& rows, const Context& context) const override;

  std::optional<std::vector<double>> free_energies(const State& rows, const Context& context) const override;
  std::optional<ClampedRows> clamped_rows(const State& rows, Key key) const override {
    return sums_hidden() ? std::nullopt : std::optional<ClampedRows>(std::in_place, model(), rows, key);
  }
  std::optional<OpenMachine> given(const State& rows, const Bits& known, std::size_t row) const override {
    const State here = model().with_room(rows.rows(row, 1));
    Bits known_here(1, known.cols());
    std::ranges::copy(known.row(row), known_here.row(0).begin());
    Conditional<Rbm> found = conditional(model(), here, model().mask_of(known_here), 0);
    return OpenMachine{std::make_unique<RbmMachine>(std::move(found.open)), found.energy};
  }
  double exact_bits() const override { return enumerated_bits(model()); }
  std::optional<Estimate> exact_log_z(const Context& context) const override {
    if (enumerated_bits(model()) > most_enumerated_bits(model())) return std::nullopt;
    const std::optional<double> log_z = ergodic::exact_log_z(static_cast<const Rbm&>(model()), context);
    return log_z ? std::optional(exactly(*log_z)) : std::nullopt;
  }
  std::unique_ptr<Path> path(const State& rows, const std::vector<Parameters>&, const Context& context) const override {
    return path_to(model(), rows, Key{}, context);
  }
  void require_stations() const override {
    throw UsageError("snapshots of training do not serve a deep Boltzmann machine; leave --path out");
  }

  std::unique_ptr<Learner> learner(const Dataset& train, const Dataset& held_out, const TrainOptions& options, Key key,
                                   const Context& context) override {
    require(options.method != kExactGradient.name,
            "--method exact is not for a deep Boltzmann machine, whose hidden layers are drawn given each row; take "
            "pcd");
    if (learning_.layer_updates == 0) {
      return learner_of(model(), train, held_out, options, learning_.data_side, key, context);
    }
    return std::make_unique<DbmLearner>(model(), train, held_out, options, learning_, key, context);
  }

  bool for_couplings(const std::function<void(std::size_t, std::size_t, double)>& f) const override;
  /// Of all layers, the lowest first.
  std::optional<Image> filters(PictureShape shape, std::size_t count) const override {
    return filters_of_layers(weights_to_visible(), shape, count);
  }
  std::vector<Picture> pictures(const Dataset& data, Key key, const Context& context) const override;

 private:
  /// W_0 W_1 ... of each hidden layer: what its units mean for the visible ones.
  std::vector<Matrix<float>> weights_to_visible() const {
    std::vector<Matrix<float>> out{model().weights_above(0)};
    for (std::size_t k = 1; k < model().depth(); ++k) {
      out.push_back(product(out.back(), model().weights_above(k), {}));
    }
    return out;
  }
  /// Whether the hidden units of a row are few enough to be summed over, those of the smaller side by enumeration.
  bool sums_hidden() const {
    const std::size_t even = units_of(model().visible()) - model().sizes()[0], odd = units_of(model().hidden());
    return std::min(even, odd) <= kSummedUnits;
  }

  DbmLearning learning_;
};

std::optional<std::vector<double>> DbmMachine::free_energies(const State& rows, const Context& context) const {
  if (!sums_hidden()) return std::nullopt;
  Bits known(rows.chains(), rows.units());
  for (std::size_t r = 0; r < known.rows(); ++r) {
    for (std::size_t i = 0; i < known.cols(); ++i) known.set(r, i, true);
  }
  const State roomy = model().with_room(rows);
  const Bits mask = model().mask_of(known);
  std::vector<double> out(rows.chains());
  context.for_blocks(rows.chains(), 1, [&](std::size_t r, std::size_t) {
    const Conditional<Rbm> found = conditional(model(), roomy, mask, r);
    out[r] = found.energy - *ergodic::exact_log_z(found.open, {});
  });
  return out;
}

void DbmMachine::put(Tensors& tensors) const {
  const std::vector<std::size_t>& sizes = model().sizes();
  tensors.metadata[kSizes] = fmt::format("{}", fmt::join(sizes, ","));
  Parameters natural;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    natural.add(bias_slot(k), {sizes[k]});
    if (k + 1 < sizes.size()) natural.add(weights_slot(k), {sizes[k], sizes[k + 1]});
  }
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    std::ranges::copy(model().bias_of(k), natural[bias_slot(k)].begin());
    if (k + 1 < sizes.size()) {
      std::ranges::copy(model().weights_above(k).elements(), natural[weights_slot(k)].begin());
    }
  }
  put_parameters(tensors, natural);
}

std::optional<Matrix<float>> DbmMachine::means_of(const Chains& chains, const Context& context) const {
  const Matrix<float> even = plain_means(model(), chains.layers[Rbm::kHidden], context);
  Matrix<float> out(even.rows(), model().sizes()[0]);
  for (std::size_t r = 0; r < out.rows(); ++r) {
    std::ranges::copy(even.row(r).first(out.cols()), out.row(r).begin());
  }
  return out;
}

/// A hidden unit also has a field from the layer above, which a network that goes up has not. It is taken to be a
/// linear function of the field from below, by least squares over rows at the fixed point of mean field.
std::vector<NetworkLayer> DbmMachine::network_layers(const Dataset& rows, const Context& context) const {
  const Matrix<float> visible = plain_values(random_rows(visible_layer(model()), rows, kNetworkRows, Key{}));
  const std::vector<Matrix<float>> means = mean_field(model(), visible, kMeanFieldSteps, context);
  std::vector<NetworkLayer> out;
  for (std::size_t k = 0; k < model().depth(); ++k) {
    NetworkLayer layer{model().weights_above(k), {}};
    layer.bias.assign(model().bias_of(k + 1).begin(), model().bias_of(k + 1).end());
    if (k + 1 < model().depth()) {
      const Matrix<float> below = product(k == 0 ? visible : means[k - 1], layer.weights, context),
                          above = product(means[k + 1], transposed(model().weights_above(k + 1)), context);
      for (std::size_t j = 0; j < layer.bias.size(); ++j) {
        const Line line = line_through(below, above, j);
        for (std::size_t i = 0; i < layer.weights.rows(); ++i) {
          layer.weights(i, j) = static_cast<float>((1.0 + line.slope) * layer.weights(i, j));
        }
        layer.bias[j] = static_cast<float>(layer.bias[j] + line.height);
      }
    }
    out.push_back(std::move(layer));
  }
  return out;
}

/// Units are counted through all layers.
bool DbmMachine::for_couplings(const std::function<void(std::size_t, std::size_t, double)>& f) const {
  std::size_t first = 0;
  for (std::size_t k = 0; k < model().depth(); ++k) {
    const Matrix<float> weights = model().weights_above(k);
    for (std::size_t i = 0; i < weights.rows(); ++i) {
      for (std::size_t j = 0; j < weights.cols(); ++j) f(first + i, first + weights.rows() + j, weights(i, j));
    }
    first += weights.rows();
  }
  return true;
}

std::vector<Picture> DbmMachine::pictures(const Dataset& data, Key key, const Context& context) const {
  const State shown = first_rows(visible(), data, kPicturedPairs, key);
  std::vector<Picture> out{picture_of_samples(*this, data.shape, key, context),
                           {"Data, each beside its reconstruction",
                            picture_of_pairs(visible(), shown, *reconstructions(shown, key, context), data.shape)}};
  for (Picture& picture : pictures_of_layers(weights_to_visible(), data.shape)) out.push_back(std::move(picture));
  return out;
}

std::unique_ptr<Machine> make(const Settings& settings, const Dataset& data, Key key, const Context& context) {
  const DbmOptions options = spec().made(settings);
  require_kind(Bernoulli{data.units()}, data);
  std::vector<std::size_t> sizes{data.units()};
  sizes.insert(sizes.end(), options.hidden.begin(), options.hidden.end());
  DeepBoltzmann model(std::move(sizes));
  const DbmLearning learning{options.layer_updates, options.weight_scale, options.data_side};
  std::vector<Layer> by_layer;
  for (const std::size_t size : model.sizes()) by_layer.emplace_back(Bernoulli{size});
  by_layer.front() = Bernoulli{2 * model.sizes().front()};
  by_layer.back() = Bernoulli{2 * model.sizes().back()};
  if (learning.layer_updates == 0) by_layer.clear();
  announce_memory({model.visible(), model.hidden(), &data}, by_layer, context);
  initialise(model, data, options.weight_scale.value_or(first_weight_scale({model.visible(), model.hidden()})), key,
             context);
  return std::make_unique<DbmMachine>(std::move(model), learning);
}

std::unique_ptr<Machine> read(const Tensors& tensors, const std::string& where) {
  const std::vector<std::size_t> sizes = sizes_at(tensors, kSizes, where);
  if (sizes.size() < 3) {
    throw DataError(
        fmt::format("{}: metadata: expected '{}' of a visible and at least two hidden layers", where, kSizes));
  }
  std::vector<std::vector<float>> weights, biases;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    biases.push_back(floats_at(tensors, bias_slot(k), {sizes[k]}, where));
    if (k + 1 < sizes.size()) weights.push_back(floats_at(tensors, weights_slot(k), {sizes[k], sizes[k + 1]}, where));
  }
  DeepBoltzmann model(sizes);
  model.set([&](Parameters& parameters) {
    for (std::size_t k = 0; k < sizes.size(); ++k) model.put_bias(k, biases[k], parameters);
    for (std::size_t k = 0; k + 1 < sizes.size(); ++k) {
      model.put_weights_above(k, {weights[k].data(), sizes[k], sizes[k + 1]}, parameters);
    }
  });
  return std::make_unique<DbmMachine>(std::move(model));
}

constexpr const char* kTraining[] = {kLoopGroup, kGradientGroup};
constexpr std::string_view kMetadata[] = {kSizes};

}  // namespace

const MachineKind kDbmKind{"dbm",
                           "deep Boltzmann machine",
                           "deep Boltzmann machine: two or more hidden layers, each coupled to the next",
                           [] { return spec().options(); },
                           kTraining,
                           kRbmRule,
                           false,
                           [](const Settings&) { return ValueKind::kBits; },
                           make,
                           read,
                           kMetadata,
                           1.0};

}  // namespace ergodic
