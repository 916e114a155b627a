// `ergodic recall`: what does a Hopfield network make of damaged rows?
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "ergodic/core/context.hpp"
#include "ergodic/run/data_request.hpp"

namespace ergodic {

struct RecallRequest {
  std::filesystem::path model;
  DataOptions data;
  Split split = Split::kTrain;  ///< where the stored patterns are
  std::uint64_t count = 50;
  double damage = 0.0;
  std::uint64_t sweeps = 100;
  bool synchronous = false;
  std::uint64_t seed = 1;
  std::filesystem::path out;

  Spec spec();
};

/// Means over the rows.
struct RecallResult {
  std::filesystem::path out;
  std::size_t count = 0;
  std::size_t converged = 0, cycles = 0;  ///< rows that came to rest, rows that ended in a cycle of two states
  double sweeps = 0.0;
  double energy_before = 0.0, energy_after = 0.0;
  std::optional<double> overlap_before, overlap_after;  ///< with the rows as they were before --damage
  bool stopped = false;                                 ///< not all rows were recalled, and nothing written
};

/// Damages the rows if asked to, lets them run, and writes them: a sheet of (original,) given and restored rows if
/// --out ends in .png, the restored rows if in .npy.
RecallResult recall_rows(const RecallRequest& request, const Context& context);

std::string to_json(const RecallResult& result);
/// The same for a person.
std::string to_text(const RecallResult& result);

}  // namespace ergodic
