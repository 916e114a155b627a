// The page that `ergodic train --report` writes: the result first, then how it came about.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/estimator/mixing.hpp"
#include "ergodic/report/html.hpp"
#include "ergodic/run/final_likelihood.hpp"
#include "ergodic/store/checkpoint.hpp"

namespace ergodic {

/// What there is to say of a run.
struct TrainingStory {
  std::string machine;  ///< "restricted Boltzmann machine"
  std::string data;     ///< as it was named
  std::string visible;  ///< its units
  std::size_t parameters = 0;
  std::uint64_t updates = 0;
  double seconds = 0.0, samples_per_second = 0.0;
  std::span<const Record> records;
  std::optional<FinalLikelihood> likelihood;
  std::optional<double> independent;  ///< what independent units would have
  std::optional<MixingReport> mixing;
  SettingTexts settings;  ///< the options, as text
  std::vector<Picture> pictures;
};

ReportContent training_report(TrainingStory story);

/// What a monitor is, in words; its name if there are none.
std::string title_of_monitor(const std::string& name);
/// The same with its unit, if it has one: "Log-likelihood (nats)".
std::string axis_title_of_monitor(const std::string& name);

/// A set by the name that people know it by, a file by its own.
std::string title_of_data(const std::string& data);

}  // namespace ergodic
