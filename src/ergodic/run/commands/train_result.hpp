// What a run of training has come to, as text and as JSON.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/profile.hpp"
#include "ergodic/estimator/mixing.hpp"
#include "ergodic/run/final_likelihood.hpp"
#include "ergodic/trainer/health.hpp"
#include "ergodic/trainer/trainer.hpp"

namespace ergodic {

/// One stage of training: its share of the time of all threads, and how many multiplications of a plain product it does
/// in a cycle of a core.
struct StageShare {
  std::string stage;
  double seconds = 0.0;
  double share = 0.0;
  double macs_per_cycle = 0.0;  ///< 0 for a stage that replaces no product
};

struct TrainResult {
  std::filesystem::path model;       ///< empty if the run was stopped
  std::filesystem::path checkpoint;  ///< where a stopped run can be resumed from
  std::uint64_t updates = 0;
  double epochs = 0.0;
  double seconds = 0.0;                        ///< spent on training since this start or resumption
  double samples_per_second = 0.0;             ///< rows of training data
  Record last;                                 ///< the monitors at the last record
  std::optional<std::vector<Rescue>> rescues;  ///< of runs that ask for them
  std::optional<KeptRecord> kept;              ///< of runs that ask for their best state
  std::uint64_t updates_asked_for = 0;         ///< which patience may have cut short
  std::optional<AverageChoice> average;        ///< of runs that average their parameters
  double learning_rate = 0.0;                  ///< at the start of the schedule, halved by each rescue
  std::vector<StageShare> profile;             ///< where the time went, if asked for
  std::optional<MixingReport> mixing;          ///< whether the persistent chains mix, at the end
  std::optional<FinalLikelihood> likelihood;   ///< unless the monitors know it exactly
  std::optional<double> independent;           ///< what independent units would have
  std::optional<Improvement> improvement;      ///< of what the monitors show
};

std::vector<StageShare> shares_of(const Profile& profile);

std::string text_of(const TrainResult& result);
/// As one JSON object.
std::string json_text_of(const TrainResult& result);

}  // namespace ergodic
