// The kind `rbm`: restricted Boltzmann machines of any two layers.
#include "ergodic/machine/rbm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ergodic/core/error.hpp"
#include "ergodic/core/number_text.hpp"
#include "ergodic/estimator/rbm_path.hpp"
#include "ergodic/estimator/station_path.hpp"
#include "ergodic/format/bytes.hpp"
#include "ergodic/machine/memory.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/model/conditional.hpp"
#include "ergodic/model/exact_rbm.hpp"
#include "ergodic/model/rbm_pseudo_likelihood.hpp"
#include "ergodic/store/tensors.hpp"
#include "ergodic/trainer/rbm_learner.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kPicturedPairs = 40, kPicturedFilters = 100;

struct RbmOptions {
  std::string visible_type = kAutoType;
  std::uint64_t hidden = 500;
  std::string hidden_type{Bernoulli::kName};
  std::uint64_t hidden_letters = 4;
  std::optional<double> weight_scale;
};

const Spec<RbmOptions>& spec() {
  static const Spec<RbmOptions> made = [] {
    Spec<RbmOptions> out;
    out.group("Machine")
        .add("hidden", &RbmOptions::hidden, "hidden units; training takes about 36 bytes for each weight")
        .range(1, 1000000)
        .add("visible-type", &RbmOptions::visible_type, "type of the visible units")
        .choices(visible_type_choices())
        .add("hidden-type", &RbmOptions::hidden_type, "type of the hidden units")
        .choices(unit_type_choices())
        .add("hidden-letters", &RbmOptions::hidden_letters, "letters of each hidden unit, if they are potts")
        .range(2, 1000)
        .advanced()
        .add("weight-scale", &RbmOptions::weight_scale,
             "standard deviation of the initial weights, as between {0,1} units")
        .range(0.0, 100.0)
        .automatic("0.3 over the root of the units of the larger layer; of real units 0.01")
        .advanced();
    return out;
  }();
  return made;
}

Layer hidden_layer(const RbmOptions& options) {
  const bool letters = options.hidden_type == Potts::kName;
  return make_layer(options.hidden_type, options.hidden * (letters ? options.hidden_letters : 1),
                    letters ? options.hidden_letters : 0);
}

std::unique_ptr<Machine> make(const Settings& settings, const Dataset& data, Key key, const Context& context) {
  const RbmOptions options = spec().made(settings);
  const Layer visible = visible_layer_for(options.visible_type, data), hidden = hidden_layer(options);
  require_kind(visible, data);
  announce_memory({visible, hidden, &data}, context);
  Rbm model(visible, hidden);
  initialise(model, data, options.weight_scale.value_or(first_weight_scale({visible, hidden})), key, context);
  return std::make_unique<RbmMachine>(std::move(model));
}

/// The layer of one side, as the metadata has it: {0,1} units if it says nothing.
Layer layer_from(const Tensors& tensors, const std::string& side, std::size_t units, const std::string& where) {
  const auto text = [&](const std::string& key, std::string_view otherwise) {
    const auto found = tensors.metadata.find(key);
    return found == tensors.metadata.end() ? std::string(otherwise) : found->second;
  };
  const std::string letters = text(side + "_letters", "0");
  const auto count = number_in<std::size_t>(letters);
  if (!count) {
    throw DataError(
        fmt::format("{}: metadata: expected '{}_letters' to be a number, found {}", where, side, excerpt(letters)));
  }
  try {
    return make_layer(text(side, Bernoulli::kName), units, *count);
  } catch (const UsageError& e) {
    throw DataError(fmt::format("{}: metadata: '{}': {}", where, side, e.what()));
  }
}

std::unique_ptr<Machine> read(const Tensors& tensors, const std::string& where) {
  const auto [visible, hidden] = matrix_shape(tensors, "weights", where);
  return std::make_unique<RbmMachine>(rbm_with_parameters(
      layer_from(tensors, "visible", visible, where), layer_from(tensors, "hidden", hidden, where), tensors, where));
}

constexpr std::string_view kMetadata[] = {"visible", "hidden", "visible_letters", "hidden_letters"};

}  // namespace

const char* const kRbmTraining[5] = {kLoopGroup, kGradientGroup, kOptimiserGroup, kHiddenUnitsGroup, kRealUnitsGroup};

const MachineKind kRbmKind{"rbm",
                           "restricted Boltzmann machine",
                           "restricted Boltzmann machine: a visible and a hidden layer",
                           [] { return spec().options(); },
                           kRbmTraining,
                           kRbmRule,
                           true,
                           [](const Settings& settings) { return kind_for_type(spec().made(settings).visible_type); },
                           make,
                           read,
                           kMetadata,
                           6.0};

Rbm rbm_with_parameters(const Layer& visible, const Layer& hidden, const Tensors& tensors, const std::string& where) {
  try {
    Rbm model(visible, hidden);
    Parameters loaded = parameters_from(tensors, model.parameters(), where);
    model.set([&](Parameters& parameters) { parameters = std::move(loaded); });
    return model;
  } catch (const UsageError& e) {
    throw DataError(fmt::format("{}: {}", where, e.what()));
  }
}

bool RbmMachine::same_shape(const Machine& other) const {
  const Rbm* rbm = model_in<Rbm>(other);
  return MachineOf::same_shape(other) && rbm && model().hidden() == rbm->hidden();
}

Facts RbmMachine::facts() const {
  return {{"hidden", std::uint64_t{units_of(model().hidden())}}, {"hidden_type", name_of(model().hidden())}};
}

void RbmMachine::put(Tensors& tensors) const {
  for (const auto& [side, layer] : {std::pair("visible", model().visible()), std::pair("hidden", model().hidden())}) {
    tensors.metadata[side] = name_of(layer);
    if (letters_of(layer) > 0) tensors.metadata[std::string(side) + "_letters"] = std::to_string(letters_of(layer));
  }
  put_parameters(tensors, parameters());
}

std::optional<Matrix<float>> RbmMachine::means_of(const Chains& chains, const Context& context) const {
  return plain_means(model(), chains.layers[Rbm::kHidden], context);
}

std::optional<Matrix<float>> RbmMachine::reconstructions(const State& rows, Key key, const Context& context) const {
  return means_of(ergodic::start_at(model(), rows, 0, key, context), context);
}

std::optional<std::vector<double>> RbmMachine::pseudo_log_likelihoods(const State& rows, Key key,
                                                                      const Context& context) const {
  if (rows.real()) return std::nullopt;
  return pseudo_log_likelihood(model(), rows, key, 0, context);
}

std::optional<Matrix<float>> RbmMachine::hidden_means(const State& rows, std::size_t, const Context& context) const {
  return model().conditional_means(Rbm::kHidden, rows, context);
}

std::vector<NetworkLayer> RbmMachine::network_layers(const Dataset&, const Context&) const {
  const Layer &from = model().visible(), &to = model().hidden();
  if (!two_valued(to)) return {};
  // A hidden unit is high with probability sigmoid(gap I); a plain value x of two-valued visible units stands for
  // low + gap x.
  const double gap = levels_of(to).gap();
  const double scale = real_valued(from) ? 1.0 : levels_of(from).gap(), shift = low_of(from);
  const MatrixView<const float> weights = model().weights();
  NetworkLayer out{Matrix<float>(weights.rows(), weights.cols()), std::vector<float>(weights.cols())};
  for (std::size_t j = 0; j < weights.cols(); ++j) {
    double field = model().hidden_bias()[j];
    for (std::size_t i = 0; i < weights.rows(); ++i) {
      out.weights(i, j) = static_cast<float>(gap * scale * weights(i, j));
      field += shift * weights(i, j);
    }
    out.bias[j] = static_cast<float>(gap * field);
  }
  return {std::move(out)};
}

std::optional<Matrix<double>> RbmMachine::site_log_probabilities(const State& rows, const Context& context) const {
  if (rows.real()) return std::nullopt;
  Matrix<std::uint32_t> all(rows.chains(), sites_of(model().visible()));
  for (std::size_t r = 0; r < all.rows(); ++r) std::iota(all.row(r).begin(), all.row(r).end(), 0u);
  return model().site_log_probabilities(rows, all, context);
}

std::optional<OpenMachine> RbmMachine::given(const State& rows, const Bits& known, std::size_t row) const {
  Conditional<Rbm> found = conditional(model(), rows, known, row);
  return OpenMachine{std::make_unique<RbmMachine>(std::move(found.open)), found.energy};
}

double RbmMachine::exact_bits() const { return enumerated_bits(model()); }

bool RbmMachine::for_couplings(const std::function<void(std::size_t, std::size_t, double)>& f) const {
  const MatrixView<const float> weights = model().weights();
  for (std::size_t i = 0; i < weights.rows(); ++i) {
    for (std::size_t j = 0; j < weights.cols(); ++j) f(i, j, weights(i, j));
  }
  return true;
}

std::optional<Estimate> RbmMachine::exact_log_z(const Context& context) const {
  if (enumerated_bits(model()) > most_enumerated_bits(model())) {
    return real_valued(model().visible()) ? MachineOf::exact_log_z(context) : std::nullopt;
  }
  const std::optional<double> log_z = ergodic::exact_log_z(model(), context);
  return log_z ? std::optional(exactly(*log_z)) : std::nullopt;
}

std::unique_ptr<Path> RbmMachine::path(const State& rows, const std::vector<Parameters>& stations,
                                       const Context& context) const {
  return stations.empty() ? path_to(model(), rows, context) : path_through(model(), stations, rows, context);
}

std::unique_ptr<Learner> RbmMachine::learner(const Dataset& train, const Dataset& held_out, const TrainOptions& options,
                                             Key key, const Context& context) {
  return std::make_unique<RbmLearner>(model(), train, held_out, options, key, context);
}

std::optional<Image> RbmMachine::filters(PictureShape shape, std::size_t count) const {
  // Without the weights of a label.
  return picture_of_filters({model().weights().data(), pictured_units(visible()), model().weights().cols()}, shape,
                            count);
}

std::vector<Picture> RbmMachine::pictures(const Dataset& data, Key key, const Context& context) const {
  const State shown = first_rows(visible(), data, kPicturedPairs, key);
  return {picture_of_samples(*this, data.shape, key, context),
          {"Data, each beside its reconstruction",
           picture_of_pairs(visible(), shown, *reconstructions(shown, key, context), data.shape)},
          {"Filters: the hundred strongest hidden units", *filters(data.shape, kPicturedFilters)}};
}

}  // namespace ergodic
