#include "ergodic/run/commands/train_result.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ergodic/core/clock.hpp"
#include "ergodic/run/commands/json.hpp"
#include "ergodic/run/commands/text.hpp"

namespace ergodic {
namespace {

std::string profile_text(const TrainResult& result) {
  if (result.profile.empty()) return {};
  std::string out = fmt::format("{:<8} {:>9} {:>7} {:>10}\n", "stage", "seconds", "share", "MAC/cycle");
  double seconds = 0.0;
  for (const StageShare& row : result.profile) {
    const std::string macs = row.macs_per_cycle > 0.0 ? fmt::format("{:.1f}", row.macs_per_cycle) : "";
    out += fmt::format("{:<8} {:>9.3f} {:>6.1f}% {:>10}\n", row.stage, row.seconds, 100.0 * row.share, macs);
    seconds += row.seconds;
  }
  return out + fmt::format("{:<8} {:>9.3f}  of all threads together, in {:.3f} s\n", "all", seconds, result.seconds);
}

/// How the likelihood stands beside that of independent units, and whether it was still growing.
std::string learned_text(const TrainResult& result) {
  std::string out;
  if (const auto error = monitor_in(result.last, "held_out_error")) {
    out += fmt::format("error on held-out rows: {:.2f} %\n", 100.0 * *error);
  }
  if (const auto exact = monitor_in(result.last, "log_likelihood")) {
    out += fmt::format("log-likelihood: {:.4f} nats a row (exact)\n", *exact);
  }
  if (result.independent) out += fmt::format("independent units would have {:.2f}\n", *result.independent);
  if (!result.improvement) return out;
  const auto& [monitor, begin, all, late] = *result.improvement;
  if (result.improvement->none()) {
    out += fmt::format(
        "next to nothing was learned: {} grew by {:.2f} nats; if the units are correlated, try --updates {}\n", monitor,
        all, 10 * result.updates);
  } else if (result.improvement->still_improving()) {
    out += fmt::format("still improving: {} grew by {:.2f} of {:.2f} nats in the last two thirds; try --updates {}\n",
                       monitor, late, all, 3 * result.updates);
  }
  return out;
}

/// Which state is the result, if it was chosen; and whether it ended the run.
std::string kept_text(const TrainResult& result) {
  std::string out;
  if (!result.model.empty() && result.updates < result.updates_asked_for) {
    out += fmt::format("patience ended the run before {} updates\n", result.updates_asked_for);
  }
  if (!result.kept) return out;
  const auto& [monitor, record] = *result.kept;
  return out + fmt::format("kept is the state after {} updates, the best by {} of held-out rows: {:.4f}\n",
                           record.update, monitor, *monitor_in(record, monitor));
}

std::string text_of(const AverageChoice& choice) {
  const char* const kept = choice.kept ? "the mean of the parameters is kept" : "the last parameters are kept";
  if (choice.monitor.empty()) return fmt::format("{}; nothing tells whether it is better than the last\n", kept);
  return fmt::format("{}: {} is {:.4g} for the mean, {:.4g} for the last\n", kept, choice.monitor, choice.average,
                     choice.last);
}

}  // namespace

std::vector<StageShare> shares_of(const Profile& profile) {
  std::vector<StageShare> out;
  double total = 0.0;
  for (std::size_t s = 0; s < kStageNames.size(); ++s) total += profile.spent(static_cast<ProfiledStage>(s)).seconds;
  const double frequency = cycles_per_second();
  for (std::size_t s = 0; s < kStageNames.size(); ++s) {
    const auto [seconds, macs] = profile.spent(static_cast<ProfiledStage>(s));
    const double time = std::max(seconds, 1e-12);
    out.push_back({std::string(kStageNames[s]), seconds, seconds / std::max(total, 1e-12), macs / (time * frequency)});
  }
  return out;
}

std::string json_text_of(const TrainResult& result) {
  Json out;
  out["model"] = result.model.empty() ? Json() : Json(result.model.string());
  out["stopped"] = result.model.empty();
  if (result.model.empty()) out["checkpoint"] = result.checkpoint.string();
  out["updates"] = result.updates;
  out["epochs"] = result.epochs;
  out["seconds"] = result.seconds;
  out["samples_per_second"] = result.samples_per_second;
  Json monitors;
  for (const auto& [name, value] : result.last.values) monitors[name] = value;
  out["monitors"] = std::move(monitors);
  if (result.likelihood) out["log_likelihood"] = json_of(*result.likelihood);
  if (result.independent) out["independent_log_likelihood"] = *result.independent;
  if (result.improvement) out["still_improving"] = result.improvement->still_improving();
  if (result.rescues) {
    out["rescues"] = Json::array();
    for (const Rescue& r : *result.rescues) {
      out["rescues"].push_back({{"diverged_after", r.diverged_after}, {"back_to", r.back_to}});
    }
    out["learning_rate"] = result.learning_rate;
  }
  if (result.kept) {
    const auto& [monitor, record] = *result.kept;
    out["kept"] = {{"update", record.update}, {"epoch", record.epoch}, {"by", monitor}};
    out["kept"]["value"] = *monitor_in(record, monitor);
  }
  if (result.average) {
    const auto& [kept, monitor, last, average] = *result.average;
    out["average"]["kept"] = kept;
    if (!monitor.empty()) out["average"][monitor] = {{"last", last}, {"average", average}};
  }
  if (result.mixing) out["mixing"] = json_of(*result.mixing);
  for (const auto& [stage, seconds, share, macs_per_cycle] : result.profile) {
    out["profile"][stage] = {{"seconds", seconds}, {"share", share}, {"macs_per_cycle", macs_per_cycle}};
  }
  return printed(out);
}

std::string text_of(const TrainResult& result) {
  const std::string done = fmt::format("{} updates in {:.1f} s ({:.0f} samples/s)", result.updates, result.seconds,
                                       result.samples_per_second);
  std::string out = result.model.empty()
                        ? fmt::format("stopped after {}; the same command with --resume goes on from {}\n", done,
                                      result.checkpoint.string())
                        : fmt::format("trained: {}; the machine is in {}\n", done, result.model.string());
  if (result.rescues && !result.rescues->empty()) {
    out += fmt::format("training diverged and was rescued {}, with a learning rate of {:.3g} in the end\n",
                       result.rescues->size() == 1 ? "once" : fmt::format("{} times", result.rescues->size()),
                       result.learning_rate);
  }
  out += kept_text(result);
  if (result.average) out += text_of(*result.average);
  if (result.likelihood) out += text_of(*result.likelihood);
  if (!result.model.empty()) out += learned_text(result);
  if (result.mixing) out += text_of(*result.mixing);
  return out + profile_text(result);
}

}  // namespace ergodic
