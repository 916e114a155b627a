// What files tell of runs of training: logs (`train --log`), results (`train --json`), model files and checkpoints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/report/log.hpp"
#include "ergodic/store/checkpoint.hpp"

namespace ergodic {

/// A likelihood and where it lies for sure, or by its standard error.
struct ToldLikelihood {
  double value = 0.0, lower = 0.0, upper = 0.0;
};

/// A run of training, as far as its files know it.
struct ToldRun {
  std::string name;     ///< that of its files without their endings
  std::string machine;  ///< the kind; empty if no file says it
  SettingTexts options;
  std::optional<std::uint64_t> updates;
  std::optional<double> seconds;  ///< of training
  bool stopped = false;
  std::optional<std::uint64_t> rescues;
  std::optional<ToldLikelihood> likelihood;
  std::vector<std::pair<std::string, double>> monitors;  ///< at the end
  std::vector<LoggedRecord> records;                     ///< without seconds if they are from a checkpoint
};

/// Files whose names differ in the ending alone are of one run; runs are in the order of their first file. DataError
/// for a file that is none of these, or a second one of the same sort for a run. Warns of logs that end in the middle
/// of a line.
std::vector<ToldRun> told_runs(std::span<const std::filesystem::path> files, const Context& context);

}  // namespace ergodic
