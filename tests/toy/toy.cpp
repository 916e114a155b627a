// The command with a machine and a training method of this file alone: one row each. tests/command/toy_test.py carries
// them through all commands.
//
// The machine is a ring of spins, E(x) = -J sum_i x_i x_i+1 - h sum_i x_i, with two parameters whatever its size. The
// method is persistent chains that start anew from time to time.
#include <memory>

#include "ergodic/core/error.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/machine/machine_of.hpp"
#include "ergodic/store/tensors.hpp"
#include "ergodic/trainer/methods.hpp"
#include "ergodic/trainer/persistent_chains.hpp"
#include "program.hpp"

namespace ergodic {
namespace {

struct Ring {
  std::vector<Layer> units;
  Parameters theta;

  explicit Ring(std::size_t size) : units{Spin{size}} {
    theta.add("J", {1});
    theta.add("h", {1});
  }
  const std::vector<Layer>& layers() const { return units; }
  const Parameters& parameters() const { return theta; }
  void update(const auto& edit, const Context&) { edit(theta); }

  std::vector<double> energy(LayerStates x, const Context&) const {
    std::vector<double> out(x.chains());
    for (std::size_t r = 0; r < out.size(); ++r) {
      const auto [pairs, sum] = sums(x[0], r);
      out[r] = -theta["J"][0] * pairs - theta["h"][0] * sum;
    }
    return out;
  }
  void add_statistics(const State& x, std::span<const double> weights, Statistics& out, const Context&) const {
    for (std::size_t r = 0; r < x.chains(); ++r) {
      const double weight = weights.size() == 1 ? weights[0] : weights[r];
      const auto [pairs, sum] = sums(x, r);
      out[0] += weight * pairs;
      out[1] += weight * sum;
    }
  }

 private:
  static std::pair<double, double> sums(const State& x, std::size_t r) {
    double pairs = 0.0, sum = 0.0;
    for (std::size_t i = 0; i < x.units(); ++i) {
      pairs += x.value(r, i) * x.value(r, (i + 1) % x.units());
      sum += x.value(r, i);
    }
    return {pairs, sum};
  }
};

class RingMachine final : public MachineOf<Ring> {
 public:
  using MachineOf::MachineOf;
  const MachineKind& kind() const override;
  Facts facts() const override { return {{"shape", std::string("ring")}}; }
  void put(Tensors& tensors) const override {
    tensors.metadata["spins"] = std::to_string(units_of(visible()));
    put_parameters(tensors, parameters());
  }
};

std::unique_ptr<Machine> read(const Tensors& tensors, const std::string& where) {
  Ring ring(std::stoul(metadata_at(tensors, "spins", where)));
  ring.theta = parameters_from(tensors, ring.theta, where);
  return std::make_unique<RingMachine>(std::move(ring));
}

constexpr const char* kTraining[] = {kLoopGroup};
constexpr std::string_view kMetadata[] = {"spins"};

const MachineKind kRing{"ring",
                        "ring of spins",
                        "a ring of spins with one coupling and one field",
                        [] { return std::vector<Option>(); },
                        kTraining,
                        {[](const TrainingCase&) {
                           return TrainDefaults{50, 2400, 0.05, 1};
                         },
                         "50", "2400", "0.05"},
                        false,
                        [](const Settings&) { return ValueKind::kBits; },
                        [](const Settings&, const Dataset& data, Key, const Context&) -> std::unique_ptr<Machine> {
                          return std::make_unique<RingMachine>(Ring(data.units()));
                        },
                        read,
                        kMetadata};

const MachineKind& RingMachine::kind() const { return kRing; }

class Restarted final : public PersistentChains {
 public:
  using PersistentChains::PersistentChains;
  ModelTerm advance(const Simulator& model, const Chains& data, std::uint64_t update, Key key,
                    const Context& context) override {
    constexpr std::uint64_t kEvery = 50, kSweeps = 20;
    if (update % kEvery == 0) {
      *chains() = model.start(chains()->count(), Key{key.seed + update}, context);
      for (std::uint64_t s = 0; s < kSweeps; ++s) model.sweep(*chains(), key, context);
    }
    return PersistentChains::advance(model, data, update, key, context);
  }
};

const Method kRestarted{"restarted", "persistent chains that start anew from time to time",
                        [](const Simulator& model, const TrainOptions& options, Key key,
                           const Context& context) -> std::unique_ptr<NegativePhase> {
                          return std::make_unique<Restarted>(*options.steps,
                                                             model.start(*options.chains, key, context));
                        }};

}  // namespace
}  // namespace ergodic

int main(int argc, char** argv) {
  ergodic::add_machine_kind(ergodic::kRing);
  ergodic::add_method(ergodic::kRestarted);
  return ergodic::cli::run(argc, argv);
}
