#include "ergodic/run/hopfield.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "ergodic/model/modern_hopfield.hpp"
#include "ergodic/model/recall.hpp"
#include "ergodic/model/storage.hpp"
#include "ergodic/run/data_request.hpp"
#include "ergodic/run/output.hpp"
#include "ergodic/run/train.hpp"
#include "ergodic/store/hopfield_file.hpp"

namespace ergodic {
namespace {

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

State patterns_of(const Dataset& data, std::uint64_t limit, Key key) {
  require(limit > 0 || data.rows() <= data.units(),
          fmt::format("{} has {} rows of {} units, and a network of that size does not remember them all; say with "
                      "--patterns how many of the first rows to store",
                      data.name, data.rows(), data.units()));
  const Layer spins = Spin{data.units()};
  require_kind(spins, data);
  return first_rows(spins, data, limit > 0 ? limit : data.rows(), key);
}

struct Made {
  std::variant<Hopfield, ModernHopfield> network;
  std::size_t stable;
};

/// Nothing if stopped before the end.
std::optional<Made> make_network(const HopfieldOptions& options, const State& patterns, const Context& context) {
  if (const auto rule = storage_rule(options.rule)) {
    auto network = store({*rule, options.bias}, patterns, context);
    if (!network) return std::nullopt;
    const std::size_t stable = count_stable(*network, patterns, context);
    return Made{std::move(*network), stable};
  }
  Matrix<float> values(patterns.chains(), patterns.units());
  unpack(patterns, values);
  ModernHopfield network(values, static_cast<float>(options.beta));
  const std::size_t stable = count_stable(network, values, context);
  return Made{std::move(network), stable};
}

void warn_if_forgetful(const Memory& memory, const Context& context) {
  if (memory.capacity && memory.load > *memory.capacity) {
    context.warn(fmt::format("{} patterns in {} units are a load of {:.3f}; beyond {:.3f} the rule {} forgets",
                             memory.patterns, memory.units, memory.load, *memory.capacity, memory.rule));
  } else if (2 * memory.stable < memory.patterns) {
    context.warn(fmt::format(
        "only {} of {} patterns are stable with the rule {}: patterns that are alike disturb each "
        "other; {} keeps them apart",
        memory.stable, memory.patterns, memory.rule, memory.capacity ? "--rule pseudo-inverse" : "a larger --beta"));
  }
}

}  // namespace

void add_hopfield_options(Spec& spec, HopfieldOptions& options) {
  // None of these shapes another kind of machine, and a Hopfield network has no checkpoint to compare them with.
  spec.group("Hopfield network")
      .choice("rule", options.rule, "how it stores patterns; modern keeps them as they are")
      .incidental()
      .count("patterns", options.patterns, 0, 100000000,
             "how many rows it stores, from the first (0: all, if there are no more than units)")
      .incidental()
      .flag("bias", options.bias, "give it biases: couplings to a unit that is up in every pattern")
      .incidental()
      .number("beta", options.beta, 1e-6, 1e6, "the inverse temperature of the modern form")
      .incidental();
}

TrainResult train_hopfield(const TrainRequest& request, const Context& context) {
  require_writable(request.out);
  std::error_code unreadable;  // the name of a set is no file
  const bool is_file = std::filesystem::exists(request.data.source, unreadable);
  require_distinct({{"--data", is_file ? request.data.source : ""}, {"--out", request.out}});
  const HopfieldOptions& options = request.hopfield;
  const Dataset data = load_data(request.data).train;
  const State patterns = patterns_of(data, options.patterns, Key{request.seed});
  Memory memory;
  memory.rule = name_of(options.rule);
  memory.patterns = patterns.chains();
  memory.units = patterns.units();
  memory.load = static_cast<double>(memory.patterns) / static_cast<double>(memory.units);
  if (const auto rule = storage_rule(options.rule)) memory.capacity = capacity_of(*rule, memory.units);
  TrainResult result;
  if (auto made = make_network(options, patterns, context)) {
    memory.stable = made->stable;
    warn_if_forgetful(memory, context);
    memory.model = result.model = request.out;
    auto notes = notes_of_data(data);
    notes["stored"] = std::to_string(memory.patterns);
    save_hopfield(request.out, {std::move(made->network), memory.rule, std::move(notes)});
  }
  result.memory = std::move(memory);
  return result;
}

std::string to_json(const Memory& memory) {
  const bool stopped = memory.model.empty();
  nlohmann::ordered_json out;
  out["model"] = stopped ? nlohmann::ordered_json() : nlohmann::ordered_json(memory.model.string());
  out["stopped"] = stopped;
  out["rule"] = memory.rule;
  out["patterns"] = memory.patterns;
  out["units"] = memory.units;
  out["load"] = memory.load;
  out["capacity"] = memory.capacity ? nlohmann::ordered_json(*memory.capacity) : nlohmann::ordered_json();
  if (!stopped) out["stable"] = memory.stable;
  return out.dump(2);
}

std::string to_text(const Memory& memory) {
  if (memory.model.empty()) return "stopped; nothing written\n";
  return fmt::format(
      "stored {} patterns of {} units by the rule {}: a load of {:.4g}; {} of them are stable\n"
      "the network is in {}\n",
      memory.patterns, memory.units, memory.rule, memory.load, memory.stable, memory.model.string());
}

}  // namespace ergodic
