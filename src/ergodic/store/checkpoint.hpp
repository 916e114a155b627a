// Checkpoints: everything that a run needs to go on as if it had never stopped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

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

/// What a checkpoint says of its run without the machine: how far it had come, and its learning curve.
struct TrainingOutline {
  SettingTexts settings;
  std::uint64_t update = 0;
  std::vector<Record> records;
};
/// DataError if the file is damaged.
TrainingOutline outline_of_checkpoint(const std::filesystem::path& path);

/// A state of the shape that a run has after so many updates.
using ShapeAt = std::function<TrainingState(std::uint64_t update)>;

/// A checkpoint with parameters of the same shape as these. UsageError naming each difference if the settings are not
/// the checkpoint's; DataError if the file is damaged, or its state has another shape than this run has there.
Checkpoint load_checkpoint(const std::filesystem::path& path, const Parameters& parameters, const ShapeAt& shape_at,
                           const SettingTexts& settings);

}  // namespace ergodic
