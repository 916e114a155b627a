// Ergodic, through the library as any program would use it.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "clock.hpp"
#include "ergodic/core/context.hpp"
#include "ergodic/core/version.hpp"
#include "ergodic/data/source.hpp"
#include "ergodic/estimator/annealing.hpp"
#include "ergodic/format/npy.hpp"
#include "ergodic/kernels/coin.hpp"
#include "ergodic/kernels/float_product.hpp"
#include "ergodic/kernels/sequential.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/machine/model_file.hpp"
#include "ergodic/machine/rbm.hpp"
#include "ergodic/model/neural.hpp"
#include "ergodic/model/rbm.hpp"
#include "ergodic/sampler/chains.hpp"
#include "ergodic/sampler/gibbs.hpp"
#include "ergodic/trainer/network_learner.hpp"
#include "ergodic/trainer/rbm_learner.hpp"
#include "serve.hpp"

namespace {

using namespace bench;
using namespace ergodic;

/// Times the updates of a run and nothing else. The trainer asks before each update whether to stop: the clock starts
/// at the first question, after the record of the start, and the run is stopped before the record of its end.
class UpdateClock : public Observer {
 public:
  explicit UpdateClock(std::uint64_t updates) : updates_(updates) {}

  bool stop_requested() override {
    if (done_ == 0 && !running_) start();
    if (done_ < updates_) return false;
    if (running_) stop();
    return true;
  }
  void progress(const Progress&) override { ++done_; }

  std::uint64_t done() const { return done_; }
  double seconds() const { return watch_.seconds(); }

  /// Calls f with the clock stopped.
  template <class F>
  void untimed(const F& f) {
    stop();
    f();
    start();
  }

 private:
  void start() { watch_.start(), running_ = true; }
  void stop() { watch_.stop(), running_ = false; }

  std::uint64_t updates_;
  std::uint64_t done_ = 0;
  bool running_ = false;
  Stopwatch watch_;
};

TrainOptions train_options(const Json& request) {
  TrainOptions options;
  options.method = request.at("method") == "cd" ? "cd" : "pcd";
  options.steps = request.at("steps");
  options.batch = options.chains = request.at("batch");
  options.epochs = request.at("epochs").get<std::uint64_t>() + 2;  // one before and one after those that are timed
  options.record_every = ~std::uint64_t{0};                        // no monitors in between
  options.learning_rate = request.at("rate");
  options.schedule = Schedule::kConstant;
  return options;
}

/// A run's first update comes after a record of the start, which nobody wants here.
void skip_first_epoch(Trainer& trainer) {
  TrainingState state = trainer.state();
  state.update = trainer.updates_per_epoch();
  trainer.restore(std::move(state));
}

Json train(const Json& request, Threads& threads) {
  const Dataset data = first_rows(request.at("data"), request.at("rows"));
  const Key key{request.at("seed")};
  Rbm machine(Bernoulli{data.units()}, Bernoulli{request.at("hidden").get<std::size_t>()});
  const TrainOptions options = train_options(request);
  initialise(machine, data, 0.01, key, Context{&threads});

  Trainer trainer = trainer_of(machine, data, {}, options, key, Context{&threads});
  skip_first_epoch(trainer);
  const std::uint64_t updates = trainer.updates_per_epoch() * (*options.epochs - 2);
  const std::uint64_t snapshot_every = request.value("snapshot_every", std::uint64_t{0});
  UpdateClock clock(updates);
  Json snapshots = Json::array();
  const auto after_update = [&] {
    if (snapshot_every == 0 || clock.done() % snapshot_every != 0) return;
    clock.untimed([&] {
      const std::string path = snapshot_path(request, clock.done());
      save_model(path, RbmMachine(machine), {});
      snapshots.push_back({{"seconds", clock.seconds()}, {"path", path}});
    });
  };
  trainer.run(after_update, Context{&threads, &clock});
  if (clock.done() != updates) throw std::logic_error("the trainer did not do the updates that were timed");

  if (request.contains("out")) save_model(request.at("out").get<std::string>(), RbmMachine(machine), {});
  return {{"seconds", clock.seconds()}, {"snapshots", snapshots}};
}

/// The first rows of a file of floats.
Dataset real_rows(const std::string& path, std::size_t count) {
  static std::string kept_path;
  static Matrix<float> kept;
  if (path != kept_path) kept = read_couplings(path), kept_path = path;
  Matrix<float> rows(count, kept.cols());
  std::ranges::copy(std::as_const(kept).elements().first(count * kept.cols()), rows.data());
  return {path, std::move(rows)};
}

/// A machine with real units or with letters.
Json other_units(const Json& request, Threads& threads) {
  const std::vector<std::string> units = request.at("units");
  const Dataset data = units[0] == "gaussian" ? real_rows(request.at("data"), request.at("rows"))
                                              : first_rows(request.at("data"), request.at("rows"));
  const Key key{request.at("seed")};
  const std::size_t letters = request.value("letters", std::size_t{0});
  Rbm machine(make_layer(units[0], data.units(), letters), make_layer(units[1], request.at("hidden")));
  const TrainOptions options = train_options(request);
  initialise(machine, data, 0.01, key, Context{&threads});
  Trainer trainer = trainer_of(machine, data, {}, options, key, Context{&threads});
  skip_first_epoch(trainer);
  UpdateClock clock(trainer.updates_per_epoch() * (*options.epochs - 2));
  trainer.run([] {}, Context{&threads, &clock});

  std::vector<std::uint32_t> rows(request.at("batch").get<std::size_t>());
  std::iota(rows.begin(), rows.end(), 0u);
  const State some = state_of(machine.visible(), gather(data, rows, key, 0));
  const State hidden(machine.conditional_means(Rbm::kHidden, some, {}));
  const Matrix<float> again = machine.conditional_means(Rbm::kVisible, hidden, {});
  double left = 0.0, variance = 0.0;
  for (std::size_t i = 0; i < some.units(); ++i) {
    double sum = 0.0, squares = 0.0;
    for (std::size_t r = 0; r < some.chains(); ++r) {
      const double x = some.value(r, i), error = again(r, i) - x;
      sum += x;
      squares += x * x;
      left += error * error;
    }
    variance += squares - sum * sum / static_cast<double>(some.chains());
  }
  return {{"seconds", clock.seconds()}, {"reconstruction", left / variance}};
}

Json network(const Json& request, Threads& threads) {
  const Context context{&threads};
  Dataset data = first_rows(request.at("data"), request.at("rows"));
  const std::vector<float> labels = read_floats(request.at("labels"));
  data.labels.assign(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(data.rows()));
  const Key key{request.at("seed")};
  Network trained(request.at("sizes").get<std::vector<std::size_t>>(), Activation::kRelu);
  for (std::size_t k = 0; k + 1 < trained.depth(); ++k) trained.randomise(k, key.at(Purpose::kInitialWeights));
  const NetworkLearning options{.optimiser = Sgd{request.at("momentum")},
                                .dropout = {request.at("dropout").at(0), request.at("dropout").at(1)},
                                .l2 = 0.0,
                                .max_norm = 0.0};
  const Dataset none{"none", Bits(0, data.units())};
  NetworkLearner learner(trained, data, none, options, key);
  std::vector<std::uint32_t> rows(request.at("batch").get<std::size_t>());
  Stopwatch watch;
  watch.start();
  std::uint64_t update = 0;
  for (std::size_t epoch = 0; epoch < request.at("epochs"); ++epoch) {
    for (std::size_t begin = 0; begin + rows.size() <= data.rows(); begin += rows.size()) {
      std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(begin));
      learner.learn({update++, epoch, request.at("rate"), rows}, context);
    }
  }
  watch.stop();
  const Dataset first = select(data, rows);
  return {{"seconds", watch.seconds()},
          {"wrong", class_scores(class_probabilities(trained, first, context), first.labels).error}};
}

/// How much likelier some rows are than by the bowl alone, on average; Z by quadrature.
double gain_over_bowl(const Neural& machine, const State& rows) {
  constexpr int kSide = 181;
  const Bowl& bowl = machine.bowl();
  Matrix<float> grid(std::size_t{kSide} * kSide, 2);
  for (int k = 0; k < kSide * kSide; ++k) {
    const auto r = static_cast<std::size_t>(k);
    grid(r, 0) = bowl.mean[0] + bowl.deviation[0] * 0.05f * static_cast<float>(k / kSide - kSide / 2);
    grid(r, 1) = bowl.mean[1] + bowl.deviation[1] * 0.05f * static_cast<float>(k % kSide - kSide / 2);
  }
  const auto weight = [](const std::vector<double>& energies) {
    return std::accumulate(energies.begin(), energies.end(), 0.0,
                           [](double sum, double energy) { return sum + std::exp(-energy); });
  };
  const auto mean = [](const std::vector<double>& energies) {
    return std::accumulate(energies.begin(), energies.end(), 0.0) / static_cast<double>(energies.size());
  };
  const State places(std::move(grid));
  return mean(machine.bowl_energy(rows, {})) - mean(machine.energy(rows, {})) -
         std::log(weight(machine.energy(places, {})) / weight(machine.bowl_energy(places, {})));
}

/// An energy that a perceptron learns.
Json neural(const Json& request, Threads& threads) {
  const Context context{&threads};
  const Dataset data = real_rows(request.at("data"), request.at("rows"));
  const Key key{request.at("seed")};
  const Settings settings{{"layers", request.at("layers").get<Counts>()}};
  const std::unique_ptr<Machine> machine = kind_named("neural").make(settings, data, key, context);
  TrainOptions options;
  options.steps = 1;
  options.batch = options.chains = request.at("batch");
  options.epochs = request.at("epochs").get<std::uint64_t>() + 2;
  options.record_every = ~std::uint64_t{0};
  options.learning_rate = request.at("rate");
  options.schedule = Schedule::kConstant;
  Trainer trainer(machine->learner(data, {}, options, key, context), data, options, key);
  skip_first_epoch(trainer);
  UpdateClock clock(trainer.updates_per_epoch() * request.at("epochs").get<std::uint64_t>());
  trainer.run([] {}, Context{&threads, &clock});
  return {{"seconds", clock.seconds()}, {"gain", gain_over_bowl(*model_in<Neural>(*machine), State(data.reals()))}};
}

/// A product of floats, again and again.
Json product(const Json& request, Threads& threads) {
  const Context context{&threads};
  const ProductFactors factors(request);
  Matrix<float> out(factors.left, factors.right);
  const Factor a = factors.a_turned ? transposed(factors.a) : Factor(factors.a);
  const Factor b = factors.b_turned ? transposed(factors.b) : Factor(factors.b);
  Stopwatch watch;
  watch.start();
  for (std::size_t k = 0; k < request.at("times"); ++k) add_product(a, b, out, context);
  watch.stop();
  return {{"seconds", watch.seconds()}, {"sum", factors.sum(out)}};
}

/// The share of bits that are on.
double activity(const Bits& bits) {
  std::uint64_t on = 0;
  for (const std::uint64_t word : bits.words()) on += static_cast<std::uint64_t>(std::popcount(word));
  return static_cast<double>(on) / static_cast<double>(bits.rows() * bits.cols());
}

Json gibbs(const Json& request, Threads& threads) {
  const Context context{&threads};
  const Rbm machine = *model_in<Rbm>(*load_model(request.at("machine").get<std::string>()).machine);
  const Key key{request.at("seed")};
  State visible(first_rows(request.at("data"), request.at("chains")).bits(), levels_of(machine.visible()));
  Chains chains = start_at(machine, std::move(visible), 0, key, context);

  const std::size_t sweeps = request.at("sweeps");
  Stopwatch watch;
  watch.start();
  for (std::size_t s = 0; s < sweeps; ++s) step(Gibbs{}, machine, chains, key, context);
  watch.stop();
  return {{"seconds", watch.seconds()}, {"activity", activity(chains.layers[Rbm::kVisible].bits())}};
}

Json ais(const Json& request, Threads& threads) {
  const Rbm machine = *model_in<Rbm>(*load_model(request.at("machine").get<std::string>()).machine);
  const std::vector<float> base = read_floats(request.at("base"));
  Stopwatch watch;
  watch.start();
  const auto log_z = annealed_log_z(machine, base, {request.at("chains"), request.at("temperatures")},
                                    Key{request.at("seed")}, Context{&threads});
  watch.stop();
  return {{"seconds", watch.seconds()}, {"log_z", log_z->value}};
}

/// A dense Boltzmann machine of +-1 spins, all chains at once.
Json spins(const Json& request, Threads& threads) {
  const Context context{&threads};
  const Matrix<float> couplings = read_couplings(request.at("couplings"));
  const std::vector<float> bias(couplings.rows());
  QuantisedWeights quantised(couplings.rows(), couplings.rows(), Spin::kLevels.low);
  quantised.assign(couplings, bias, context);
  const Affine map{couplings, couplings, bias, &quantised};

  const Key key{request.at("seed")};
  State states(request.at("chains"), couplings.rows(), Spin::kLevels);
  const Draw start = key.at(Purpose::kInitialChains);
  for (std::uint32_t r = 0; r < states.chains(); ++r) {
    for (std::uint32_t i = 0; i < states.units(); ++i) states.bits().set(r, i, coin(start, r, i, 0.5));
  }
  const std::size_t sweeps = request.at("sweeps");
  Stopwatch watch;
  watch.start();
  for (std::size_t s = 0; s < sweeps; ++s) sweep_in_turn(states, map, key.at(Purpose::kGibbs, s), 0, context);
  watch.stop();

  Matrix<double> fields(states.chains(), states.units());
  product(states, map, fields, context);
  double energy = 0.0;
  for (std::size_t r = 0; r < states.chains(); ++r) {
    for (std::size_t i = 0; i < states.units(); ++i) energy -= 0.5 * states.value(r, i) * fields(r, i);
  }
  return {{"seconds", watch.seconds()}, {"energy", energy / static_cast<double>(states.chains() * states.units())}};
}

/// Writes a data set, binarised as --data does it, as bytes 0 and 1 for all contenders.
Json export_data(const Json& request) {
  DataOptions options;
  options.source = request.at("source");
  const DataParts parts = load_data(options);
  const auto write = [](const Dataset& data, const std::string& path) {
    Array array{ElementType::kUInt8, {data.rows(), data.units()}, {}};
    array.bytes.resize(array.size());
    for (std::size_t r = 0; r < data.rows(); ++r) {
      for_each_set(data.bits().row(r), [&](std::size_t unit) { array.bytes[r * data.units() + unit] = std::byte{1}; });
    }
    write_npy(path, array);
  };
  write(parts.train, request.at("train"));
  write(parts.test, request.at("test"));
  return Json::object();
}

}  // namespace

int main(int argc, char** argv) {
  Threads threads(threads_from(argc, argv));
  return serve("ergodic", fmt::format("{}, {}", kVersion, __VERSION__), threads.count(),
               {{"train", [&](const Json& request) { return train(request, threads); }},
                {"gibbs", [&](const Json& request) { return gibbs(request, threads); }},
                {"ais", [&](const Json& request) { return ais(request, threads); }},
                {"spins", [&](const Json& request) { return spins(request, threads); }},
                {"reals", [&](const Json& request) { return other_units(request, threads); }},
                {"letters", [&](const Json& request) { return other_units(request, threads); }},
                {"network", [&](const Json& request) { return network(request, threads); }},
                {"neural", [&](const Json& request) { return neural(request, threads); }},
                {"product", [&](const Json& request) { return product(request, threads); }},
                {"export", export_data}});
}
