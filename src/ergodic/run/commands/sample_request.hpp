// The options of `ergodic sample`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "ergodic/option/spec.hpp"
#include "ergodic/run/commands/data.hpp"
#include "ergodic/sampler/sampling.hpp"

namespace ergodic {

struct SampleRequest {
  std::filesystem::path model;
  std::optional<std::uint64_t> count;  ///< of chains; nothing: as many as there are rows, or a hundred
  SamplingOptions sampling;
  Numbers temperatures{1.0};
  bool all_levels = false;
  std::filesystem::path path;
  bool means = false, drawn = false;
  std::uint64_t seed = 1;
  std::filesystem::path watch;  ///< the weights of a sum that is watched too
  DataOptions data;             ///< rows at which chains start, or none
  Split split = Split::kAuto;
  std::filesystem::path fixed;  ///< the mask of the units that stay, with such rows
  std::string labels;           ///< classes that chains are given, with commas between them, or "all"; empty: none
  double sure = 0.0;            ///< how sure the machine must be of these; 0: as it comes
  std::filesystem::path out, energies;
  std::uint64_t scale = 1;

  /// Whether each chain gives one row, so that the result is a plain table.
  bool plain() const { return temperatures.size() == 1 && sampling.draws == 1 && !all_levels; }
};

const Spec<SampleRequest>& sample_spec();

/// UsageError for options that exclude each other, and for files that cannot be written.
void require_consistent(const SampleRequest& request);

}  // namespace ergodic
