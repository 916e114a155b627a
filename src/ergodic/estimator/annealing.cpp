#include "ergodic/estimator/annealing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/estimator/rbm_path.hpp"

namespace ergodic {

namespace {

constexpr double kBracketErrors = 3.0;      // 0.3 % of normal numbers are further out, on both sides together
constexpr double kShareOfEqualSteps = 0.2;  // of an adapted ladder
constexpr std::size_t kSmoothed = 64;       // spreads are averaged over this part of a ladder on both sides
constexpr std::size_t kFewestTopSweeps = 100, kTopShare = 10;  // sweeps at t = 1 before a round, by temperatures
constexpr double kFewEffective = 10.0, kFewEffectiveShare = 0.1;
constexpr double kFarErrors = 4.0, kFarNats = 0.1;  // both sides disagree from there on

/// Counts the sweeps of a round.
class Steps {
 public:
  Steps(std::size_t total, const Context& context) : total_(total), context_(context) {}
  /// False if the work is to stop.
  bool next() {
    if (context_.stop_requested()) return false;
    context_.progress({++done_, total_});
    return true;
  }
  const Context& context() const { return context_; }

 private:
  std::uint64_t done_ = 0, total_;
  const Context& context_;
};

std::size_t top_sweeps(std::size_t temperatures) { return std::max(kFewestTopSweeps, temperatures / kTopShare); }

/// Each direction of each round has random numbers of its own; so have the chains that stay at t = 1.
constexpr std::uint8_t kUp = 0, kDown = 1, kTop = 2;
Key key_of(Key key, std::uint64_t round, std::uint8_t direction) {
  const Words words = key.at(Purpose::kAnnealing, round, direction).words(0, 0);
  return {words[0] | (std::uint64_t{words[1]} << 32)};
}

std::vector<double> equal_steps(std::size_t steps) {
  std::vector<double> out(steps + 1);
  for (std::size_t k = 0; k <= steps; ++k) out[k] = static_cast<double>(k) / static_cast<double>(steps);
  return out;
}

/// Means over neighbours, as many on both sides; fewer at the ends.
std::vector<double> smoothed(std::span<const double> values, std::size_t reach) {
  std::vector<double> out(values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::size_t first = k - std::min(k, reach), last = std::min(values.size(), k + reach + 1);
    double sum = 0.0;
    for (std::size_t l = first; l < last; ++l) sum += values[l];
    out[k] = sum / static_cast<double>(last - first);
  }
  return out;
}

struct Passage {
  AnnealedSide found;          // of log Z at the end over log Z at the start
  std::vector<double> spread;  // the variance over chains of what each step added to the logarithms of their weights
};

/// Goes through the machines at these positions; nothing if stopped.
std::optional<Passage> go_along(Path& path, std::span<const double> positions, Chains chains, Key key, Steps& steps) {
  WeightedChains weights(chains.count());
  std::vector<double> added(chains.count()), spread;
  for (std::size_t k = 1; k < positions.size(); ++k) {
    if (!steps.next()) return std::nullopt;
    path.advance(positions[k - 1], positions[k], chains, key, added, steps.context());
    weights.add(added);
    weights.even_out(chains, key.at(Purpose::kAnnealing, k));
    spread.push_back(variance_of(added));
  }
  return Passage{weights.found(), std::move(spread)};
}

std::pair<double, double> span_of(const AnnealedSide& side) {
  const double reach = kBracketErrors * side.standard_error;
  return {side.value - reach, side.value + reach};
}

}  // namespace

AnnealedSide forward_side(double base_log_z, AnnealedSide found) {
  found.value = base_log_z + found.value;
  return found;
}

AnnealedSide backward_side(double base_log_z, AnnealedSide found) {
  found.value = base_log_z - found.value;
  return found;
}

/// The mean of both sides, by the variances of their log weights: their errors depend on the few largest weights, and
/// so would the mean. If the sides differ by more than their errors, the error of the mean grows by as much (Birge
/// 1932).
AnnealedLogZ both_ways(const AnnealedSide& forward, const AnnealedSide& backward, std::size_t chains,
                       std::size_t temperatures) {
  const double all = forward.variance + backward.variance;
  const double share = all > 0.0 ? backward.variance / all : 0.5;
  const double up = share * forward.standard_error, down = (1.0 - share) * backward.standard_error;
  const double joint =
      std::sqrt(forward.standard_error * forward.standard_error + backward.standard_error * backward.standard_error);
  const double ratio = joint > 0.0 ? std::abs(forward.value - backward.value) / joint : 1.0;
  AnnealedLogZ out;
  out.log_z.value = share * forward.value + (1.0 - share) * backward.value;
  out.log_z.standard_error = std::sqrt(up * up + down * down) * std::max(1.0, ratio);
  const auto [low, high] = span_of(forward);
  const auto [low_backward, high_backward] = span_of(backward);
  out.log_z.lower = std::min(low, low_backward);
  out.log_z.upper = std::max(high, high_backward);
  out.contradiction = low > high_backward;
  out.log_z.method = "annealing both ways";
  out.forward = forward;
  out.backward = backward;
  out.chains = chains;
  out.temperatures = temperatures;
  return out;
}

std::vector<std::string> doubts_about(const AnnealedLogZ& found) {
  std::vector<std::string> out;
  if (found.contradiction) {
    out.emplace_back(
        "the bounds of log Z contradict each other, so the backward chains were no draws of the machine: they start at "
        "the data and have not found all that it likes; log Z may lie above its bracket, and the likelihood below");
  }
  const double few = std::max(kFewEffective, kFewEffectiveShare * static_cast<double>(found.chains));
  const auto look_at = [&](const char* name, const AnnealedSide& side) {
    if (side.effective_chains >= few) return;
    out.push_back(
        fmt::format("log Z by annealing {} depends on {:.1f} of {} chains; trust the bracket alone, "
                    "which more temperatures narrow",
                    name, side.effective_chains, found.chains));
  };
  look_at("forward", found.forward);
  look_at("backward", found.backward);
  const double apart = std::abs(found.forward.value - found.backward.value);
  const double joint = std::hypot(found.forward.standard_error, found.backward.standard_error);
  if (apart > kFarErrors * joint && apart > kFarNats) {
    out.push_back(
        fmt::format("log Z by annealing forward and backward differ by {:.2f} nats, {:.0f} times what their "
                    "errors allow; trust the bracket alone, which more temperatures narrow",
                    apart, apart / joint));
  }
  return out;
}

std::vector<double> ladder_by_spread(std::span<const double> ladder, std::span<const double> spread,
                                     std::size_t steps) {
  assert(ladder.size() == spread.size() + 1);
  std::vector<double> rate(spread.size());  // the deviation for each dt
  for (std::size_t k = 0; k < rate.size(); ++k) rate[k] = std::sqrt(spread[k]) / (ladder[k + 1] - ladder[k]);
  rate = smoothed(rate, spread.size() / kSmoothed + 1);
  double total = 0.0;
  for (std::size_t k = 0; k < rate.size(); ++k) total += rate[k] * (ladder[k + 1] - ladder[k]);
  if (!(total > 0.0)) return equal_steps(steps);
  for (double& r : rate) r = (1.0 - kShareOfEqualSteps) * r / total + kShareOfEqualSteps;
  std::vector<double> out{0.0};
  double before = 0.0;  // the integral up to step k of the old ladder
  std::size_t k = 0;
  for (std::size_t j = 1; j < steps; ++j) {
    const double wanted = static_cast<double>(j) / static_cast<double>(steps);
    const auto width = [&] { return rate[k] * (ladder[k + 1] - ladder[k]); };
    while (k + 1 < rate.size() && before + width() < wanted) before += width(), ++k;
    out.push_back(std::clamp(ladder[k] + (wanted - before) / rate[k], out.back(), 1.0));
  }
  out.push_back(1.0);
  return out;
}

Annealer::Annealer(Path& path, const State& rows, std::size_t chains, Key key, const Context& context)
    : path_(path), chains_(chains), key_(key) {
  require(chains >= 2, "annealing needs at least 2 chains: one alone has no standard error");
  require(rows.chains() >= 1, "annealing needs a row of data, from which it starts backward");
  top_ = path.start_at(cycled(rows, chains), key_of(key, 0, kTop), context);
}

std::size_t Annealer::sweeps_of_round(std::size_t temperatures) { return 2 * temperatures + top_sweeps(temperatures); }

std::optional<AnnealedLogZ> Annealer::round(std::size_t temperatures, const Context& context) {
  require(temperatures >= 1, "annealing needs at least 1 temperature");
  ladder_ = spread_.empty() ? equal_steps(temperatures) : ladder_by_spread(ladder_, spread_, temperatures);
  spread_.clear();
  const std::size_t at_top = top_sweeps(temperatures);
  Steps steps(sweeps_of_round(temperatures), context);
  const Key up = key_of(key_, rounds_, kUp), down = key_of(key_, rounds_, kDown), top = key_of(key_, 0, kTop);
  const auto forward = go_along(path_, ladder_, path_.draw_base(chains_, up, context), up, steps);
  if (!forward) return std::nullopt;
  for (std::size_t s = 0; s < at_top; ++s) {
    if (!steps.next()) return std::nullopt;
    path_.sweep(1.0, top_, top, context);
  }
  const std::vector<double> positions(ladder_.rbegin(), ladder_.rend());
  const auto backward = go_along(path_, positions, Chains{top_.layers}, down, steps);
  if (!backward) return std::nullopt;
  for (std::size_t k = 0; k < temperatures; ++k) {
    spread_.push_back(0.5 * (forward->spread[k] + backward->spread[temperatures - 1 - k]));
  }
  ++rounds_;
  const double base = path_.base_log_z();
  return both_ways(forward_side(base, forward->found), backward_side(base, backward->found), chains_, temperatures);
}

std::optional<AnnealedSide> annealed_log_z(const Rbm& model, std::span<const float> base,
                                           const AnnealingOptions& options, Key key, const Context& context) {
  require(options.chains >= 2, "annealing needs at least 2 chains: one alone has no standard error");
  require(options.temperatures >= 1, "annealing needs at least 1 temperature");
  RbmPath path(model, {base.begin(), base.end()}, context);
  Steps steps(options.temperatures, context);
  const auto found =
      go_along(path, equal_steps(options.temperatures), path.draw_base(options.chains, key, context), key, steps);
  return found ? std::optional(forward_side(path.base_log_z(), found->found)) : std::nullopt;
}

}  // namespace ergodic
