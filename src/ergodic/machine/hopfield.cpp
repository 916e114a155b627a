// The kind `hopfield`: networks that store patterns by a rule and recall them from damaged ones.
//
// With couplings (Hebb, Storkey, pseudo-inverse) a Hopfield network at a temperature is a Boltzmann machine of spins,
// so it is sampled, evaluated and compared like one. The modern form keeps the patterns themselves; it is an energy of
// real units, sampled along its forces.
#include "ergodic/model/hopfield.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "ergodic/core/error.hpp"
#include "ergodic/machine/boltzmann.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/model/modern_hopfield.hpp"
#include "ergodic/model/storage.hpp"
#include "ergodic/store/tensors.hpp"

namespace ergodic {

extern const MachineKind kHopfieldKind;

enum class MemoryRule { kPseudoInverse, kStorkey, kHebb, kModern };

template <>
struct Names<MemoryRule> {
  static constexpr std::array<Named<MemoryRule>, 4> kAll{
      {{MemoryRule::kPseudoInverse, "pseudo-inverse", "projection onto the patterns; keeps even similar ones apart"},
       {MemoryRule::kStorkey, "storkey", "Hebb's rule without what earlier patterns say already"},
       {MemoryRule::kHebb, "hebb", "sum of outer products; 0.138 patterns for each unit"},
       {MemoryRule::kModern, "modern", "keeps the patterns as they are; recall by softmax"}}};
};

namespace {

struct HopfieldOptions {
  MemoryRule rule = MemoryRule::kPseudoInverse;
  std::optional<std::uint64_t> patterns;
  bool bias = false;
  double beta = 1.0;
};

const Spec<HopfieldOptions>& spec() {
  static const Spec<HopfieldOptions> made = [] {
    Spec<HopfieldOptions> out;
    out.group("Machine")
        .add("rule", &HopfieldOptions::rule, "how it stores patterns")
        .add("patterns", &HopfieldOptions::patterns, "how many rows it stores, from the first")
        .range(1, 100000000)
        .automatic("all, if there are no more than units")
        .add("bias", &HopfieldOptions::bias, "give it biases: couplings to a unit that is up in every pattern")
        .add("beta", &HopfieldOptions::beta, "inverse temperature of the softmax of the modern form")
        .range(1e-6, 1e6)
        .advanced();
    return out;
  }();
  return made;
}

constexpr std::string_view kModern = "modern";

/// The rule for couplings; nothing for the modern form, which has none.
std::optional<StorageRule> storage_rule(MemoryRule rule) {
  switch (rule) {
    case MemoryRule::kHebb:
      return StorageRule::kHebb;
    case MemoryRule::kStorkey:
      return StorageRule::kStorkey;
    case MemoryRule::kPseudoInverse:
      return StorageRule::kPseudoInverse;
    default:
      return std::nullopt;
  }
}

/// What a network has been given to remember.
struct Memory {
  std::string rule;
  std::size_t patterns = 0, units = 0;
  std::optional<double> capacity;  ///< the load that the rule bears; the modern form has no such limit
  std::size_t stable = 0;          ///< patterns that stay as they are

  double load() const { return static_cast<double>(patterns) / static_cast<double>(units); }

  Facts facts() const {
    return {{"rule", rule},
            {"patterns", std::uint64_t{patterns}},
            {"units", std::uint64_t{units}},
            {"load", load()},
            {"capacity", capacity ? FactValue(*capacity) : FactValue()},
            {"stable", std::uint64_t{stable}}};
  }
  std::string text() const {
    return fmt::format(
        "stored {} patterns of {} units by the rule {}: {:.4g} patterns per unit; {} of them are stable\n", patterns,
        units, rule, load(), stable);
  }
  void warn_if_forgetful(const Context& context) const {
    if (capacity && load() > *capacity) {
      context.warn(fmt::format("{} patterns in {} units are {:.3f} per unit; beyond {:.3f} the rule {} forgets",
                               patterns, units, load(), *capacity, rule));
    } else if (2 * stable < patterns) {
      context.warn(
          fmt::format("only {} of {} patterns are stable with the rule {}: patterns that are alike disturb each "
                      "other; {} keeps them apart",
                      stable, patterns, rule, capacity ? "--rule pseudo-inverse" : "a larger --beta"));
    }
  }
};

Matrix<float> values_of(const State& rows) {
  Matrix<float> out(rows.chains(), rows.units());
  unpack(rows, out);
  return out;
}

/// The Boltzmann machine of spins that has the couplings of a network.
Boltzmann boltzmann_of(const Hopfield& network) {
  const std::size_t n = network.units();
  Boltzmann out(Spin{n}, dense_graph(n));
  out.update(
      [&](Parameters& parameters) {
        auto coupling = parameters["couplings"].begin();
        for (std::size_t i = 0; i < n; ++i) {
          coupling = std::copy(network.couplings().row(i).begin() + static_cast<std::ptrdiff_t>(i) + 1,
                               network.couplings().row(i).end(), coupling);
        }
        std::ranges::copy(network.bias(), parameters["bias"].begin());
      },
      {});
  return out;
}

/// A network with couplings. Its Boltzmann machine is made when it is asked for: recall does not need it.
class HopfieldMachine final : public BoltzmannMachine {
 public:
  HopfieldMachine(Hopfield network, std::string rule, std::optional<Memory> memory = std::nullopt)
      : network_(std::move(network)), rule_(std::move(rule)), memory_(std::move(memory)) {}

  const Boltzmann& model() const override {
    if (!model_) model_ = std::make_unique<Boltzmann>(boltzmann_of(network_));
    return *model_;
  }
  Layer visible() const override { return Spin{network_.units()}; }

  const MachineKind& kind() const override { return kHopfieldKind; }
  Facts facts() const override { return {{"rule", rule_}}; }
  Facts making_facts() const override { return memory_ ? memory_->facts() : Facts{}; }
  std::string making_text() const override { return memory_ ? memory_->text() : ""; }
  void put(Tensors& tensors) const override {
    const std::size_t n = network_.units();
    tensors.metadata["rule"] = rule_;
    if (memory_) tensors.metadata["stored"] = std::to_string(memory_->patterns);
    tensors.arrays.emplace_back("couplings", array_of(network_.couplings().elements(), {n, n}));
    tensors.arrays.emplace_back("bias", array_of(network_.bias(), {n}));
  }
  std::optional<RecalledRows> recall(const RecallOptions& options, const State& rows, std::size_t first_row, Key key,
                                     const Context& context) const override {
    Recalled after = ergodic::recall(options, network_, rows, first_row, key, context);
    return RecalledRows{values_of(after.rows), std::move(after.paths)};
  }
  std::unique_ptr<Learner> learner(const Dataset&, const Dataset&, const TrainOptions&, Key, const Context&) override {
    return nullptr;
  }

 private:
  Hopfield network_;
  std::string rule_;
  std::optional<Memory> memory_;
};

/// The modern form as an energy of real units.
struct ModernEnergy {
  ModernHopfield network;
  Layer units = Gaussian{network.units()};

  std::span<const Layer> layers() const { return {&units, 1}; }
  std::vector<double> energy(LayerStates x, const Context&) const {
    std::vector<double> out;
    for_rows(x[0], [&](std::size_t, std::vector<double> row) { out.push_back(network.energy(row)); });
    return out;
  }
  /// -dE/dx: from where a row is to where an update leads.
  Matrix<double> forces(const State& x, const Context&) const {
    Matrix<double> out(x.chains(), x.units());
    for_rows(x, [&](std::size_t r, std::vector<double> row) {
      network.update(row);
      for (std::size_t i = 0; i < row.size(); ++i) out(r, i) = row[i] - double{x.reals()(r, i)};
    });
    return out;
  }

 private:
  template <class F>
  static void for_rows(const State& x, const F& f) {
    for (std::size_t r = 0; r < x.chains(); ++r) {
      const std::span<const float> row = x.reals().row(r);
      f(r, std::vector<double>(row.begin(), row.end()));
    }
  }
};

class ModernMachine final : public MachineOf<ModernEnergy> {
 public:
  explicit ModernMachine(ModernHopfield network, std::optional<Memory> memory = std::nullopt)
      : MachineOf(ModernEnergy{std::move(network)}), memory_(std::move(memory)) {
    shown_.add("patterns", {patterns().rows(), patterns().cols()});
    std::ranges::copy(patterns().elements(), shown_["patterns"].begin());
  }

  const MachineKind& kind() const override { return kHopfieldKind; }
  const Parameters& parameters() const override { return shown_; }
  Facts facts() const override {
    return {{"rule", std::string(kModern)},
            {"patterns", std::uint64_t{patterns().rows()}},
            {"beta", double{model().network.beta()}}};
  }
  Facts making_facts() const override { return memory_ ? memory_->facts() : Facts{}; }
  std::string making_text() const override { return memory_ ? memory_->text() : ""; }
  void put(Tensors& tensors) const override {
    const float beta[] = {model().network.beta()};
    tensors.metadata["rule"] = kModern;
    if (memory_) tensors.metadata["stored"] = std::to_string(memory_->patterns);
    tensors.arrays.emplace_back("patterns", array_of(patterns().elements(), {patterns().rows(), patterns().cols()}));
    tensors.arrays.emplace_back("beta", array_of(beta, {1}));
  }
  std::optional<RecalledRows> recall(const RecallOptions& options, const State& rows, std::size_t, Key,
                                     const Context& context) const override {
    ModernRecalled after = ergodic::recall(model().network, values_of(rows), options.sweeps, context);
    return RecalledRows{std::move(after.rows), std::move(after.paths)};
  }
  std::unique_ptr<Learner> learner(const Dataset&, const Dataset&, const TrainOptions&, Key, const Context&) override {
    return nullptr;
  }

 private:
  const Matrix<float>& patterns() const { return model().network.patterns(); }

  std::optional<Memory> memory_;
  Parameters shown_;  // the patterns
};

State patterns_of(const Dataset& data, const std::optional<std::uint64_t>& limit, Key key) {
  require(limit || data.rows() <= data.units(),
          fmt::format("{} has {} rows of {} units, and a network of that size does not remember them all; say with "
                      "--patterns how many of the first rows to store",
                      data.name, data.rows(), data.units()));
  const Layer spins = Spin{data.units()};
  require_kind(spins, data);
  return first_rows(spins, data, limit.value_or(data.rows()), key);
}

/// UsageError for more units than a matrix of couplings can be held for.
void require_couplings_fit(std::size_t units) {
  constexpr double kMostGib = 8.0;
  const double couplings = static_cast<double>(units) * static_cast<double>(units);
  const double gib = couplings * sizeof(float) * 0x1p-30;
  require(gib <= kMostGib,
          fmt::format("a Hopfield network of {} units has {:.2g} billion couplings ({:.1f} GiB, at most {:.0f} GiB are "
                      "allowed); take --rule modern, which keeps the patterns themselves, an RBM, or fewer units",
                      units, couplings * 1e-9, gib, kMostGib));
}

std::unique_ptr<Machine> make(const Settings& settings, const Dataset& data, Key key, const Context& context) {
  const HopfieldOptions options = spec().made(settings);
  require_complete(data);
  const State patterns = patterns_of(data, options.patterns, key);
  Memory memory{std::string(name_of(options.rule)), patterns.chains(), patterns.units(), {}, 0};
  if (const auto rule = storage_rule(options.rule)) {
    require_couplings_fit(memory.units);
    memory.capacity = capacity_of(*rule, memory.units);
    std::optional<Hopfield> network = store({*rule, options.bias}, patterns, context);
    if (!network) return nullptr;
    memory.stable = count_stable(*network, patterns, context);
    memory.warn_if_forgetful(context);
    return std::make_unique<HopfieldMachine>(std::move(*network), memory.rule, memory);
  }
  const Matrix<float> values = values_of(patterns);
  ModernHopfield network(values, static_cast<float>(options.beta));
  memory.stable = count_stable(network, values, context);
  memory.warn_if_forgetful(context);
  return std::make_unique<ModernMachine>(std::move(network), memory);
}

Matrix<float> matrix_at(const Tensors& tensors, const std::string& name, const std::string& where) {
  const auto [rows, cols] = matrix_shape(tensors, name, where);
  const std::vector<float> values = floats_at(tensors, name, {rows, cols}, where);
  Matrix<float> out(rows, cols);
  std::copy(values.begin(), values.end(), out.elements().begin());
  return out;
}

void refuse_if(const std::optional<std::string>& flaw, const std::string& where) {
  if (flaw) throw DataError(fmt::format("{}: {}", where, *flaw));
}

std::unique_ptr<Machine> read(const Tensors& tensors, const std::string& where) {
  const std::string& rule = metadata_at(tensors, "rule", where);
  if (rule == kModern) {
    Matrix<float> patterns = matrix_at(tensors, "patterns", where);
    const float beta = floats_at(tensors, "beta", {1}, where)[0];
    refuse_if(flaw_in_patterns(patterns, beta), where);
    return std::make_unique<ModernMachine>(ModernHopfield(std::move(patterns), beta));
  }
  Matrix<float> couplings = matrix_at(tensors, "couplings", where);
  std::vector<float> bias = floats_at(tensors, "bias", {couplings.rows()}, where);
  refuse_if(flaw_in(couplings, bias), where);
  return std::make_unique<HopfieldMachine>(Hopfield(std::move(couplings), std::move(bias)), rule);
}

constexpr std::string_view kMetadata[] = {"rule"};

}  // namespace

const MachineKind kHopfieldKind{"hopfield",
                                "Hopfield network",
                                "Hopfield network: stores patterns by a rule, and recalls them",
                                [] { return spec().options(); },
                                {},
                                {},
                                false,
                                [](const Settings&) { return ValueKind::kSpins; },
                                make,
                                read,
                                kMetadata};

}  // namespace ergodic
