#include "ergodic/machine/kinds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ergodic/core/error.hpp"

namespace ergodic {

// The rows: each kind is defined in the file of its name.
extern const MachineKind kRbmKind, kBoltzmannKind, kNeuralKind, kHopfieldKind, kClassRbmKind, kDbnKind, kDbmKind;

namespace {

std::vector<const MachineKind*>& rows() {
  static std::vector<const MachineKind*> all{&kRbmKind,      &kBoltzmannKind, &kNeuralKind, &kHopfieldKind,
                                             &kClassRbmKind, &kDbnKind,       &kDbmKind};
  return all;
}

}  // namespace

std::span<const MachineKind* const> machine_kinds() { return rows(); }

void add_machine_kind(const MachineKind& kind) { rows().push_back(&kind); }

const MachineKind* find_kind(std::string_view name) {
  for (const MachineKind* kind : rows()) {
    if (kind->name == name) return kind;
  }
  return nullptr;
}

const MachineKind& kind_named(std::string_view name) {
  if (const MachineKind* kind = find_kind(name)) return *kind;
  std::vector<std::string_view> names;
  for (const MachineKind* kind : rows()) names.push_back(kind->name);
  throw UsageError(fmt::format("unknown kind of machine '{}'; there are: {}", name, fmt::join(names, ", ")));
}

}  // namespace ergodic
