// The page that `ergodic classify fit --report` writes: how often the classifier is right, how it came to that, and
// what it takes for what.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "ergodic/core/context.hpp"
#include "ergodic/machine/classifier.hpp"
#include "ergodic/report/html.hpp"
#include "ergodic/run/fit.hpp"
#include "ergodic/store/checkpoint.hpp"

namespace ergodic {

/// What there is to say of a run.
struct ClassifierStory {
  const Classifier& classifier;
  const TrainingData& data;         ///< all rows; it is judged by those held out, if there are any
  std::size_t labelled = 0;         ///< rows whose labels were learned from
  std::span<const Record> records;  ///< of fine-tuning
  std::uint64_t updates = 0;
  double pretraining_seconds = 0.0, seconds = 0.0;
  SettingTexts settings{};  ///< the options, as text
};

ReportContent classifier_report(const ClassifierStory& story, const Context& context);

void write_classifier_report(const std::filesystem::path& path, const ClassifierStory& story, const Context& context);

}  // namespace ergodic
