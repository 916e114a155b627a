// The kind `neural`: energies of real units that a perceptron learns.
#include "ergodic/model/neural.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ergodic/core/error.hpp"
#include "ergodic/machine/machine_of.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/sampler/jumping.hpp"
#include "ergodic/sampler/langevin.hpp"
#include "ergodic/store/tensors.hpp"
#include "ergodic/trainer/energy_learner.hpp"

namespace ergodic {

extern const MachineKind kNeuralKind;

namespace {

// What works on points of a plane (docs/decisions/neural-energy.md).
constexpr Adam kAdam{0.5, 0.999};
constexpr double kLangevinStep = 0.15;  // of the smallest deviation of the data

constexpr std::size_t kMostLayers = 8, kMostUnits = 4096;

struct NeuralOptions {
  Counts layers{32, 32, 32};
};

const Spec<NeuralOptions>& spec() {
  static const Spec<NeuralOptions> made = [] {
    Spec<NeuralOptions> out;
    out.group("Machine")
        .add("layers", &NeuralOptions::layers, fmt::format("units of each hidden layer, {} at most", kMostLayers))
        .range(1, kMostUnits);
    return out;
  }();
  return made;
}

class NeuralMachine final : public MachineOf<Neural> {
 public:
  using MachineOf::MachineOf;

  const MachineKind& kind() const override { return kNeuralKind; }
  Facts facts() const override {
    return {{"layers", std::vector<std::uint64_t>(model().hidden().begin(), model().hidden().end())}};
  }
  void put(Tensors& tensors) const override {
    const Bowl& bowl = model().bowl();
    tensors.arrays.emplace_back("mean", array_of(std::span(bowl.mean), {bowl.mean.size()}));
    tensors.arrays.emplace_back("deviation", array_of(std::span(bowl.deviation), {bowl.mean.size()}));
    put_parameters(tensors, parameters());
  }
  void require_stations() const override {
    throw UsageError(
        "a neural energy is annealed from the data's own normal distribution, and its chains jump from there; leave "
        "out --path");
  }
  std::unique_ptr<Learner> learner(const Dataset& train, const Dataset& held_out, const TrainOptions& options, Key key,
                                   const Context& context) override {
    require(options.method == kPersistentChains.name,
            fmt::format("a neural energy is trained with persistent chains (--method pcd), found {}", options.method));
    const float smallest = *std::ranges::min_element(model().bowl().deviation);
    const Jumping<Langevin> kernel{Langevin{kLangevinStep * double{smallest}}};
    return energy_learner(model(), kernel, train, held_out, options, EnergyLearning{kAdam}, key, context);
  }
  std::vector<Picture> pictures(const Dataset& data, Key key, const Context& context) const override {
    if (!is_plane(visible())) return {};
    return MachineOf::pictures(data, key, context);
  }
};

std::unique_ptr<Machine> make(const Settings& settings, const Dataset& data, Key key, const Context& context) {
  const NeuralOptions options = spec().made(settings);
  require(options.layers.size() <= kMostLayers,
          fmt::format("--layers: expected one to {} numbers from 1 to {} with commas between them, found '{}'",
                      kMostLayers, kMostUnits, text_of(Value(options.layers))));
  require_complete(data);
  require_kind(Gaussian{data.units()}, data);
  Neural model(bowl_of(data.reals(), data.weights), {options.layers.begin(), options.layers.end()});
  initialise(model, key, context);
  return std::make_unique<NeuralMachine>(std::move(model));
}

/// The number of columns of the weights of each layer but the last, which has one.
std::vector<std::size_t> hidden_in(const Tensors& tensors, const std::string& where) {
  std::vector<std::size_t> out;
  for (std::size_t layer = 0;; ++layer) {
    const std::size_t columns = matrix_shape(tensors, Perceptron::weights_slot(layer), where).second;
    if (!tensors.find(Perceptron::bias_slot(layer))) return out;  // the output has none
    out.push_back(columns);
  }
}

std::unique_ptr<Machine> read(const Tensors& tensors, const std::string& where) {
  const std::vector<std::size_t> hidden = hidden_in(tensors, where);
  const std::size_t units = tensors.find(Perceptron::weights_slot(0))->shape[0];
  const Bowl bowl{floats_at(tensors, "mean", {units}, where), floats_at(tensors, "deviation", {units}, where)};
  try {
    Neural model(bowl, hidden);
    const Parameters loaded = parameters_from(tensors, model.parameters(), where);
    model.update([&](Parameters& parameters) { parameters = loaded; }, {});
    return std::make_unique<NeuralMachine>(std::move(model));
  } catch (const UsageError& e) {
    throw DataError(fmt::format("{}: {}", where, e.what()));
  }
}

constexpr const char* kTraining[] = {kLoopGroup};

}  // namespace

const MachineKind kNeuralKind{"neural",
                              "neural energy",
                              "energy of real numbers that a perceptron learns",
                              [] { return spec().options(); },
                              kTraining,
                              kNeuralRule,
                              false,
                              [](const Settings&) { return ValueKind::kReal; },
                              make,
                              read,
                              {}};

}  // namespace ergodic
