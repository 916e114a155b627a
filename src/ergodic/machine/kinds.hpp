// The kinds of machine: one row each. --model, its options and their help, model files, `inspect`, the tests and the
// front ends follow from the rows.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/in_memory.hpp"
#include "ergodic/machine/machine.hpp"
#include "ergodic/option/option.hpp"
#include "ergodic/trainer/train_defaults.hpp"

namespace ergodic {

struct MachineKind {
  std::string_view name;   ///< in files, and after --model
  std::string_view title;  ///< "restricted Boltzmann machine"
  std::string_view help;   ///< a line for --help
  /// The options that `make` takes.
  std::vector<Option> (*options)();
  /// The groups of training options that it takes; none for a machine that is complete when it is made.
  std::span<const char* const> training;
  TrainRule defaults;  ///< of training
  bool snapshots;      ///< whether snapshots of training serve annealing and tempering
  /// The values that it takes from data.
  ValueKind (*values)(const Settings& settings);
  /// A machine for this data, ready to be trained. Nothing if stopped before the end.
  std::unique_ptr<Machine> (*make)(const Settings& settings, const Dataset& data, Key key, const Context& context);
  /// The machine in a model file; DataError that begins with `where` if it is not one.
  std::unique_ptr<Machine> (*read)(const Tensors& tensors, const std::string& where);
  /// What the metadata of its files says beside what all model files say.
  std::span<const std::string_view> metadata;
  /// How much higher the learning rate is when it pre-trains a network: features gain by longer steps than a likelihood
  /// does. 0: no network can begin with its hidden layers (Machine::network_layers).
  double pretraining_gain = 0.0;

  bool pretrains() const { return pretraining_gain > 0.0; }
  /// Whether it is trained by updates.
  bool learns() const { return !training.empty(); }
};

/// All of them, the default first.
std::span<const MachineKind* const> machine_kinds();
/// One more, for a program with a machine of its own; before anything else runs.
void add_machine_kind(const MachineKind& kind);
/// Null if there is none of this name.
const MachineKind* find_kind(std::string_view name);
/// UsageError that lists the names if there is none of this one.
const MachineKind& kind_named(std::string_view name);

}  // namespace ergodic
