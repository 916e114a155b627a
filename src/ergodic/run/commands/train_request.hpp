// The options of `ergodic train`: those of every run, and those of the chosen kind of machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ergodic/data/source.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/option/spec.hpp"
#include "ergodic/store/checkpoint.hpp"
#include "ergodic/trainer/recipes.hpp"

namespace ergodic {

struct TrainRequest {
  DataOptions data;
  double held_out = 0.02;                       ///< share of the rows that is not learned from
  std::string model{machine_kinds()[0]->name};  ///< the kind of machine
  Settings machine;                             ///< its own options
  TrainOptions training;
  std::string recipe = kDefaultRecipe;
  std::optional<std::string> time;  ///< that training takes, as text
  std::uint64_t seed = 1;
  std::filesystem::path out;
  std::filesystem::path log;
  std::filesystem::path report;
  std::filesystem::path trajectory;  ///< a folder for snapshots
  double checkpoint_every = 60.0;    ///< seconds
  bool resume = false;
  bool profile = false;
  bool no_likelihood = false;
};

/// The options that a kind of machine takes.
Spec<TrainRequest> train_spec(const MachineKind& kind);

/// The request that these settings make, with what its recipe sets where they say nothing. UsageError if they will not
/// do.
TrainRequest train_request(const MachineKind& kind, const Settings& given);

/// The seconds of --time, if it is given. UsageError if they are none, or if updates are given in another way.
std::optional<double> seconds_of(const TrainRequest& request);

/// All options of all kinds, each with the kinds that it belongs to.
std::vector<Option> train_options_of_all_kinds();

/// Everything that shapes the result, as text.
SettingTexts settings_of(const MachineKind& kind, const TrainRequest& request);

}  // namespace ergodic
