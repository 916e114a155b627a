// The kind `boltzmann`: Boltzmann machines on any graph, with hidden units or without.
#include "ergodic/machine/boltzmann.hpp"

#include <algorithm>

#include "ergodic/core/error.hpp"
#include "ergodic/estimator/station_path.hpp"
#include "ergodic/machine/graph_text.hpp"
#include "ergodic/machine/memory.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/model/conditional.hpp"
#include "ergodic/model/elimination.hpp"
#include "ergodic/store/boltzmann_file.hpp"
#include "ergodic/trainer/boltzmann_learner.hpp"

namespace ergodic {
namespace {

struct BoltzmannOptions {
  std::string visible_type = kAutoType;
  std::uint64_t hidden = 0;
  std::string graph = "dense";
  std::optional<double> weight_scale;
};

const Spec<BoltzmannOptions>& spec() {
  static const Spec<BoltzmannOptions> made = [] {
    Spec<BoltzmannOptions> out;
    out.group("Machine")
        .add("hidden", &BoltzmannOptions::hidden, "hidden units, which are of the type of the visible ones")
        .range(0, 1000000)
        .add("visible-type", &BoltzmannOptions::visible_type, "type of the units: bernoulli, spin or potts")
        .choices(visible_type_choices())
        .add("graph", &BoltzmannOptions::graph,
             "which units, or sites of letters, are coupled: dense (all), grid:HxW, torus:HxW (periodic borders), "
             "random:DEGREE (a mean number of neighbours), or a file of edges, two units on each line, counted from 0")
        .placeholder("GRAPH")
        .role(PathRole::kInput)
        .add("weight-scale", &BoltzmannOptions::weight_scale,
             "standard deviation of the initial couplings of hidden units, as between {0,1} units")
        .range(0.0, 100.0)
        .automatic("0.3 over the root of the number of units")
        .advanced();
    return out;
  }();
  return made;
}

/// Hidden units, or sites, come after the visible ones and are like them.
std::unique_ptr<Machine> make(const Settings& settings, const Dataset& data, Key key, const Context& context) {
  const BoltzmannOptions options = spec().made(settings);
  const Layer visible = visible_layer_for(options.visible_type, data);
  require_kind(visible, data);
  const std::size_t letters = letters_of(visible), each = std::max<std::size_t>(letters, 1);
  const Layer units = make_layer(name_of(visible), units_of(visible) + options.hidden * each, letters);
  const Graph sites = graph_from_text(options.graph, {units_of(visible) / each, options.hidden}, key);
  const Graph graph = letters > 0 ? site_graph(sites, letters) : sites;
  announce_memory(graph, units, data, context);
  Boltzmann model(units, graph, units_of(visible));
  initialise(model, data, options.weight_scale.value_or(first_weight_scale({units})), key, context);
  return std::make_unique<BoltzmannMachine>(std::move(model));
}

std::unique_ptr<Machine> read(const Tensors& tensors, const std::string& where) {
  return std::make_unique<BoltzmannMachine>(boltzmann_from(tensors, where));
}

constexpr const char* kTraining[] = {kLoopGroup, kGradientGroup};

}  // namespace

const MachineKind kBoltzmannKind{
    "boltzmann",
    "Boltzmann machine",
    "Boltzmann machine: units coupled along the edges of any graph",
    [] { return spec().options(); },
    kTraining,
    kGraphRule,
    true,
    [](const Settings& settings) { return kind_for_type(spec().made(settings).visible_type); },
    make,
    read,
    kBoltzmannKeys};

bool BoltzmannMachine::same_shape(const Machine& other) const {
  const Boltzmann* machine = model_in<Boltzmann>(other);
  return MachineOf::same_shape(other) && machine && model().graph() == machine->graph();
}

Facts BoltzmannMachine::facts() const {
  Facts out;
  if (model().hidden() > 0) {
    out = {{"hidden", std::uint64_t{model().hidden()}}, {"hidden_type", name_of(model().units())}};
  }
  out.push_back({"edges", std::uint64_t{model().graph().edges()}});
  return out;
}

void BoltzmannMachine::put(Tensors& tensors) const { put_boltzmann(tensors, model()); }

bool BoltzmannMachine::sums_hidden() const { return why_no_exact_free_energy(model()).empty(); }

std::optional<std::vector<double>> BoltzmannMachine::free_energies(const State& rows, const Context& context) const {
  return sums_hidden() ? exact_free_energy(model(), rows, context) : std::nullopt;
}

std::optional<ClampedRows> BoltzmannMachine::clamped_rows(const State& rows, Key key) const {
  return sums_hidden() ? std::nullopt : std::optional<ClampedRows>(std::in_place, model(), rows, key);
}

std::optional<std::vector<double>> BoltzmannMachine::pseudo_log_likelihoods(const State& rows, Key,
                                                                            const Context& context) const {
  if (model().hidden() > 0) return std::nullopt;
  return model().pseudo_log_likelihood(rows, context);
}

std::optional<State> BoltzmannMachine::hidden_of(const Chains& chains, std::size_t) const {
  if (model().hidden() == 0) return std::nullopt;
  State out = make_state(model().hidden_layer(), chains.count());
  for (std::size_t r = 0; r < out.chains(); ++r) {
    for (std::size_t i = 0; i < out.units(); ++i) {
      out.bits().set(r, i, chains.layers[0].bits().get(r, model().visible() + i));
    }
  }
  return out;
}

std::optional<Matrix<double>> BoltzmannMachine::site_log_probabilities(const State& rows,
                                                                       const Context& context) const {
  if (model().hidden() > 0) return std::nullopt;
  return model().site_log_probabilities(rows, context);
}

std::optional<OpenMachine> BoltzmannMachine::given(const State& rows, const Bits& known, std::size_t row) const {
  Conditional<Boltzmann> found = conditional(model(), rows, known, row);
  return OpenMachine{std::make_unique<BoltzmannMachine>(std::move(found.open)), found.energy};
}

double BoltzmannMachine::exact_bits() const { return exact_log_z_bits(model()); }

bool BoltzmannMachine::for_couplings(const std::function<void(std::size_t, std::size_t, double)>& f) const {
  for (std::size_t i = 0; i < model().graph().units(); ++i) {
    model().graph().for_later_neighbours(i, [&](std::size_t j, std::size_t e) { f(i, j, model().couplings()[e]); });
  }
  return true;
}

std::optional<Estimate> BoltzmannMachine::exact_log_z(const Context& context) const {
  if (!why_no_exact_log_z(model()).empty() || context.stop_requested()) return std::nullopt;
  const std::optional<double> log_z = ergodic::exact_log_z(model(), context);
  return log_z ? std::optional(exactly(*log_z)) : std::nullopt;
}

std::unique_ptr<Path> BoltzmannMachine::path(const State& rows, const std::vector<Parameters>& stations,
                                             const Context& context) const {
  return path_through(model(), stations, rows, context);
}

std::unique_ptr<Learner> BoltzmannMachine::learner(const Dataset& train, const Dataset& held_out,
                                                   const TrainOptions& options, Key key, const Context& context) {
  return learner_of(model(), train, held_out, options, key, context);
}

}  // namespace ergodic
