// Facts: what there is to say of a machine, as data. Commands print them as text or JSON.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace ergodic {

/// A fact without a value is known to have none, such as a capacity without limit.
using FactValue = std::variant<std::monostate, std::uint64_t, double, std::string, std::vector<std::uint64_t>>;

struct Fact {
  std::string name;  ///< as in JSON: visible, hidden_type
  FactValue value;
};
using Facts = std::vector<Fact>;

}  // namespace ergodic
