#include "ergodic/trainer/monitor.hpp"

#include <algorithm>
#include <cmath>

#include "ergodic/core/permutation.hpp"
#include "ergodic/model/exact_rbm.hpp"
#include "ergodic/model/rbm_pseudo_likelihood.hpp"
#include "ergodic/model/reconstruction.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kMostMonitoredRows = 1000, kFewestMonitoredRows = 100;
constexpr double kCheapEnumeration = 16.0;  // bits up to which a record affords the exact likelihood

double average(std::span<const double> values) {
  double sum = 0.0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

// The names of monitors that rows are judged by.
constexpr char kLikelihood[] = "log_likelihood", kPseudo[] = "pseudo_log_likelihood";

/// Given the mean free energy of the rows; nothing if log Z takes too long.
std::optional<double> affordable_likelihood(const Rbm& model, double free_energy, const Context& context) {
  if (enumerated_bits(model) > kCheapEnumeration) return std::nullopt;
  return -free_energy - *exact_log_z(model, Context{context.threads, nullptr});
}

struct Activity {
  double dead = 0.0;
  double saturated = 0.0;
};

Activity hidden_activity(const Rbm& model, const State& rows, const Context& context) {
  const Matrix<float> hidden = model.conditional_means(Rbm::kHidden, rows, context);
  std::vector<double> sums(hidden.cols());
  const double weight = 1.0 / static_cast<double>(rows.chains());
  add_column_sums(hidden, {&weight, 1}, sums);
  const Levels levels = levels_of(model.hidden());
  Activity out;
  for (const double mean : sums) {
    const double share_on = (mean - levels.low) / levels.gap();
    if (share_on < 0.01) out.dead += 1.0;
    if (share_on > 0.99) out.saturated += 1.0;
  }
  out.dead /= static_cast<double>(sums.size());
  out.saturated /= static_cast<double>(sums.size());
  return out;
}

}  // namespace

std::vector<std::uint32_t> monitored_rows(const Dataset& data, std::size_t affordable, Key key) {
  std::vector<std::uint32_t> rows = permutation(data.rows(), key.at(Purpose::kMonitor));
  rows.resize(std::min(rows.size(), std::clamp(affordable, kFewestMonitoredRows, kMostMonitoredRows)));
  return rows;
}

double weight_norm(const Parameters& parameters) {
  double squares = 0.0, count = 0.0;
  for (const Slot& slot : parameters.slots()) {
    if (slot.name.find("bias") != std::string::npos) continue;
    for (const float value : parameters[slot.name]) squares += double{value} * value;
    count += static_cast<double>(slot.size);
  }
  return count > 0.0 ? std::sqrt(squares / count) : 0.0;
}

double weight_norm(const Rbm& model) {
  const std::span<const double> visible = model.precision(Rbm::kVisible).deviations,
                                hidden = model.precision(Rbm::kHidden).deviations;
  const MatrixView<const float> weights = model.weights();
  double squares = 0.0;
  for (std::size_t i = 0; i < weights.rows(); ++i) {
    for (std::size_t j = 0; j < weights.cols(); ++j) {
      const double w = weights(i, j) * (visible.empty() ? 1.0 : visible[i]) * (hidden.empty() ? 1.0 : hidden[j]);
      squares += w * w;
    }
  }
  return std::sqrt(squares / static_cast<double>(weights.elements().size()));
}

Measures measure(const Rbm& model, const State& train, const State& held_out, Key key, std::uint64_t step,
                 const Context& context) {
  Measures out;
  const State& judged = held_out.chains() > 0 ? held_out : train;
  const double judged_free_energy = average(model.free_energy(judged, context));
  if (held_out.chains() > 0) {
    out.emplace_back("free_energy_gap", judged_free_energy - average(model.free_energy(train, context)));
  }
  out.emplace_back("reconstruction_error", reconstruction_error(model, train, key, step, context));
  if (!judged.real()) {
    out.emplace_back(kPseudo, average(pseudo_log_likelihood(model, judged, key, step, context)));
  }
  if (const auto exact = affordable_likelihood(model, judged_free_energy, context)) {
    out.emplace_back(kLikelihood, *exact);
  }
  out.emplace_back("weight_norm", weight_norm(model));
  if (two_valued(model.hidden())) {
    const Activity activity = hidden_activity(model, train, context);
    out.emplace_back("dead", activity.dead);
    out.emplace_back("saturated", activity.saturated);
  }
  return out;
}

std::optional<HeldOutLoss> held_out_loss(const Rbm& model, const State& held_out, Key key, std::uint64_t step,
                                         const Context& context) {
  if (held_out.chains() == 0) return std::nullopt;
  if (const auto exact = affordable_likelihood(model, average(model.free_energy(held_out, context)), context)) {
    return HeldOutLoss{kLikelihood, -*exact};
  }
  if (held_out.real()) return std::nullopt;
  return HeldOutLoss{kPseudo, -average(pseudo_log_likelihood(model, held_out, key, step, context))};
}

}  // namespace ergodic
