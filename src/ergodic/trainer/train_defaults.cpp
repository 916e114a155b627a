#include "ergodic/trainer/train_defaults.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ergodic/data/moments.hpp"
#include "ergodic/trainer/methods.hpp"

namespace ergodic {
namespace {

constexpr std::uint64_t kExactBatch = 1000, kExactUpdates = 3000;  // without noise from samples fewer are enough
constexpr double kExactGain = 40.0, kCarefulExactGain = 4.0, kMostExactRate = 2.0;
constexpr std::uint64_t kRealUpdates = 10000;  // real units have no fast kernels
constexpr double kPlainRate = 0.05, kReluRate = 0.1;
constexpr double kAdamRate = 0.002, kSpectralRate = 0.01;  // steps do not scale with gradients
constexpr std::uint64_t kUpdatesOfSpectral = 10;           // for one: each of its updates takes far longer
constexpr double kRateTimesCovariance = 0.0125, kLeastRate = 0.002, kMostRate = 0.2;
constexpr double kRateOfNeighbour = 0.4;
constexpr std::uint64_t kClassEpochs = 50, kFewestClassUpdates = 3000;
constexpr double kClassRate = 8.0;  // from four hidden units of six values to 1500 of pictures
// Of all inputs together; digits have a third of it. Fields move in proportion to it, and 4096 coins with 1024 diverged
// at a rate of 4, not of 2.
constexpr double kMostInputVariance = 200.0;
constexpr double kFirstFields = 0.3, kFirstRealWeights = 0.01;

bool exact(const TrainingCase& now) { return now.method == kExactGradient.name; }

/// Two digits, as a person would write it.
double rounded(double rate) {
  double scale = 1.0;
  while (rate * scale < 10.0) scale *= 10.0;
  return std::round(rate * scale) / scale;
}

std::uint64_t count_between(double least, double value, double most) {
  return static_cast<std::uint64_t>(std::round(std::clamp(value, least, most)));
}

bool all_two_valued(const TrainingCase& now) { return std::ranges::all_of(now.layers, two_valued); }

double rbm_rate(const TrainingCase& now) {
  const Layer &visible = now.layers.front(), &hidden = now.layers.back();
  if (name_of(hidden) == Relu::kName) return kReluRate;
  if (!all_two_valued(now)) return kPlainRate;
  const double ratio = static_cast<double>(units_of(visible)) / static_cast<double>(units_of(hidden));
  const double covariance = std::max(shared_covariance(now.data), 1e-6);
  return std::clamp(kRateTimesCovariance / covariance * std::sqrt(std::sqrt(ratio)), kLeastRate, kMostRate);
}

double class_rate(const Dataset& data) {
  double variance = 0.0;
  for (const double mean : unit_means(data)) variance += mean * (1.0 - mean);
  return rounded(kClassRate * std::min(1.0, kMostInputVariance / variance));
}

TrainDefaults sgd_defaults(const TrainingCase& now) {
  const double rate = rbm_rate(now);
  if (exact(now)) {
    const double gain = all_two_valued(now) ? kExactGain : kCarefulExactGain;
    return {kExactBatch, kExactUpdates, rounded(std::min(gain * rate, kMostExactRate)), 1};
  }
  if (real_valued(now.layers.front()) || real_valued(now.layers.back())) {
    return {100, kRealUpdates, rate, 1};
  }
  const bool persistent = method_named(now.method).persistent;
  const auto parameters = static_cast<double>(now.parameters);
  return {100, count_between(12000, 30000 * std::sqrt(150000 / parameters), 30000), rounded(rate),
          persistent ? count_between(1, 100000 / parameters, 10) : 1};
}

}  // namespace

TrainDefaults rbm_defaults(const TrainingCase& now) {
  TrainDefaults out = sgd_defaults(now);
  if (now.optimiser == OptimiserKind::kAdam) out.learning_rate = kAdamRate;
  if (now.optimiser == OptimiserKind::kSpectral) {
    out.learning_rate = kSpectralRate;
    out.updates /= kUpdatesOfSpectral;
  }
  return out;
}

TrainDefaults class_rbm_defaults(const TrainingCase& now) {
  TrainDefaults out = rbm_defaults(now);
  if (now.objective == Objective::kGenerative) return out;
  const std::uint64_t batch = std::min<std::uint64_t>(out.batch, now.data.rows());
  out.updates = std::max(kFewestClassUpdates, kClassEpochs * ((now.data.rows() + batch - 1) / batch));
  out.learning_rate = class_rate(now.data);
  return out;
}

TrainDefaults graph_defaults(const TrainingCase& now) {
  if (exact(now)) return {kExactBatch, kExactUpdates, 10.0 * kPlainRate, 1};
  const auto units = static_cast<double>(units_of(now.layers.front()));
  const double neighbours = 2.0 * (static_cast<double>(now.parameters) - units) / units;
  return {100, count_between(1000, 4e9 / static_cast<double>(now.parameters), 20000),
          rounded(std::clamp(kRateOfNeighbour / std::sqrt(std::max(neighbours, 1.0)), kPlainRate, kMostRate)), 1};
}

double first_weight_scale(const std::vector<Layer>& layers) {
  std::size_t largest = 1;
  for (const Layer& layer : layers) {
    if (real_valued(layer)) return kFirstRealWeights;
    largest = std::max(largest, units_of(layer));
  }
  return kFirstFields / std::sqrt(static_cast<double>(largest));
}

}  // namespace ergodic
