// `ergodic train --model hopfield`: rows of data into the memory of a Hopfield network. Nothing is learned by updates,
// so there is no checkpoint; the patterns are stored by a rule, and looked at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "ergodic/core/context.hpp"
#include "ergodic/run/spec.hpp"

namespace ergodic {

struct TrainRequest;
struct TrainResult;

enum class MemoryRule { kPseudoInverse, kStorkey, kHebb, kModern };

template <>
struct Names<MemoryRule> {
  static constexpr std::array<std::pair<MemoryRule, std::string_view>, 4> kAll{
      {{MemoryRule::kPseudoInverse, "pseudo-inverse"},
       {MemoryRule::kStorkey, "storkey"},
       {MemoryRule::kHebb, "hebb"},
       {MemoryRule::kModern, "modern"}}};
};

struct HopfieldOptions {
  MemoryRule rule = MemoryRule::kPseudoInverse;
  std::uint64_t patterns = 0;  ///< 0: all rows, if there are no more than units
  bool bias = false;
  double beta = 1.0;
};

/// What a network has been given to remember.
struct Memory {
  std::filesystem::path model;  ///< empty if stopped before the end
  std::string rule;
  std::size_t patterns = 0, units = 0;
  double load = 0.0;               ///< patterns for each unit
  std::optional<double> capacity;  ///< the load that the rule bears; the modern form has no such limit
  std::size_t stable = 0;          ///< patterns that stay as they are
};

void add_hopfield_options(Spec& spec, HopfieldOptions& options);

/// Stores the first rows of the training part. UsageError if there are more rows than units and nobody said how many to
/// take. Warns if the load is above the capacity.
TrainResult train_hopfield(const TrainRequest& request, const Context& context);

std::string to_json(const Memory& memory);
/// The same for a person.
std::string to_text(const Memory& memory);

}  // namespace ergodic
