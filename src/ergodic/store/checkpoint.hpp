// Checkpoints: everything that a run needs to go on as if it had never stopped.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "ergodic/model/rbm.hpp"
#include "ergodic/trainer/trainer.hpp"

namespace ergodic {

/// What shaped the run, by option name; a run may only go on with the same settings.
using Settings = std::map<std::string, std::string>;

void save_checkpoint(const std::filesystem::path& path, const Rbm& model, const TrainingState& state,
                     const Settings& settings);

/// Restores the parameters into `model`, which must have the shape that the settings ask for. UsageError naming each
/// difference if the settings are not the checkpoint's; DataError if the file is damaged.
TrainingState load_checkpoint(const std::filesystem::path& path, Rbm& model, const Settings& settings);

}  // namespace ergodic
