// Checkpoints: everything that a run needs to go on as if it had never stopped.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "ergodic/model/parameters.hpp"
#include "ergodic/trainer/trainer.hpp"

namespace ergodic {

/// What shaped the run, by option name; a run may only go on with the same settings.
using SettingTexts = std::map<std::string, std::string>;

struct Checkpoint {
  Parameters parameters;
  TrainingState state;
};

void save_checkpoint(const std::filesystem::path& path, const Parameters& parameters, const TrainingState& state,
                     const SettingTexts& settings);

/// The settings of the run that a checkpoint is of. DataError if the file is damaged.
SettingTexts settings_in(const std::filesystem::path& path);

/// A checkpoint of the same shape as this one, which is that of a run at its start. UsageError naming each difference
/// if the settings are not the checkpoint's; DataError if the file is damaged.
Checkpoint load_checkpoint(const std::filesystem::path& path, const Checkpoint& start, const SettingTexts& settings);

}  // namespace ergodic
