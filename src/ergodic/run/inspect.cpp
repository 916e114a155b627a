#include "ergodic/run/inspect.hpp"

#include <algorithm>
#include <cmath>

#include "ergodic/machine/kinds.hpp"

namespace ergodic {
namespace {

Inspection::Range range_of(std::span<const float> values) {
  const auto [smallest, largest] = std::ranges::minmax_element(values);
  double squares = 0.0;
  for (const float v : values) squares += double{v} * v;
  return {*smallest, *largest, std::sqrt(squares / static_cast<double>(values.size()))};
}

}  // namespace

Inspection inspect(const Machine& machine) {
  Inspection out{
      std::string(machine.kind().name), std::string(machine.kind().title), machine.visible(), machine.facts(), 0, {}};
  for (const Slot& slot : machine.parameters().slots()) {
    if (slot.size == 0) continue;
    out.ranges[slot.name] = range_of(machine.parameters()[slot.name]);
    out.parameters += slot.size;
  }
  return out;
}

}  // namespace ergodic
