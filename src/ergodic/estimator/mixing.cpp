#include "ergodic/estimator/mixing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <span>
#include <utility>

#include "ergodic/core/leading_directions.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kMostChains = 16;
constexpr std::size_t kMostDrawsOfAll = 3200;  // 200 of each of 16 chains, more of each if there are fewer
constexpr std::size_t kFewestJudgedDraws = 8;  // of a chain; its halves have four
constexpr double kFarRHat = 1.1;               // from here on a longer run is not the only thing to think of

std::uint64_t rounded_up_ratio(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

/// The share of the first units that are on; of real units, their mean.
double activity_of(const State& state, std::size_t chain, std::size_t units) {
  double sum = 0.0;
  if (state.real()) {
    for (const float value : state.reals().row(chain).first(units)) sum += value;
  } else {
    const std::span<const std::uint64_t> words = state.bits().row(chain);
    for (std::size_t k = 0; k < Bits::words_for(units); ++k) {
      const std::size_t left = units - k * Bits::kWordBits;
      const std::uint64_t mask = left < Bits::kWordBits ? (std::uint64_t{1} << left) - 1 : ~std::uint64_t{0};
      sum += std::popcount(words[k] & mask);
    }
  }
  return sum / static_cast<double>(units);
}

MixingReport::Quantity judged(std::string name, const Matrix<double>& trace, std::uint64_t every) {
  Diagnosis diagnosis = diagnose(trace);
  diagnosis.autocorrelation_time *= static_cast<double>(every);
  return {std::move(name), diagnosis, verdict_on(diagnosis)};
}

/// The chains have mixed if no quantity says otherwise, and one says so.
Verdict verdict_on_all(const std::vector<MixingReport::Quantity>& quantities) {
  const auto some = [&](Mixing mixing) {
    return std::ranges::any_of(quantities, [&](const auto& q) { return q.verdict.mixing == mixing; });
  };
  const Mixing all = some(Mixing::kNo) ? Mixing::kNo : some(Mixing::kYes) ? Mixing::kYes : Mixing::kUnknown;
  std::vector<std::string> reasons;
  for (const auto& q : quantities) {
    if (all != Mixing::kYes && q.verdict.mixing == all) reasons.push_back(q.name + ": " + q.verdict.reason);
  }
  return {all, fmt::format("{}", fmt::join(reasons, "; "))};
}

}  // namespace

WatchedNumber watched_mean(const Layer& visible) {
  const std::size_t units = units_of(visible);
  const bool spins = !real_valued(visible) && levels_of(visible).low < 0.0f;
  return {spins ? "magnetisation" : "activity", [units, spins](LayerStates x, const Context&) {
            std::vector<double> out;
            for (std::size_t chain = 0; chain < x.chains(); ++chain) {
              const double activity = activity_of(x[0], chain, units);
              out.push_back(spins ? 2.0 * activity - 1.0 : activity);
            }
            return out;
          }};
}

namespace {

WatchedNumber watched_sum(std::string name, std::vector<float> weights) {
  return {std::move(name), [weights = std::move(weights)](LayerStates x, const Context&) {
            std::vector<double> out(x.chains());
            for (std::size_t chain = 0; chain < x.chains(); ++chain) {
              for (std::size_t i = 0; i < weights.size(); ++i) out[chain] += double{weights[i]} * x[0].value(chain, i);
            }
            return out;
          }};
}

}  // namespace

WatchedNumber watched_sum(std::vector<float> weights) { return watched_sum("sum", std::move(weights)); }

std::vector<WatchedNumber> watched_directions(MatrixView<const float> weights) {
  static constexpr std::array kNames{"first direction", "second direction", "third direction"};
  std::vector<double> inner(weights.cols());
  const LeadingDirections found = leading_directions(
      weights.rows(), kNames.size(), [&](const Matrix<double>& rows, Matrix<double>& out) {  // times W W'
        for (std::size_t k = 0; k < rows.rows(); ++k) {
          std::ranges::fill(inner, 0.0);
          for (std::size_t i = 0; i < weights.rows(); ++i) {
            for (std::size_t j = 0; j < inner.size(); ++j) inner[j] += rows(k, i) * double{weights(i, j)};
          }
          for (std::size_t i = 0; i < weights.rows(); ++i) {
            double sum = 0.0;
            for (std::size_t j = 0; j < inner.size(); ++j) sum += inner[j] * double{weights(i, j)};
            out(k, i) += sum;
          }
        }
      });
  std::vector<WatchedNumber> out;
  for (std::size_t k = 0; k < found.directions.rows(); ++k) {
    const std::span<const double> direction = found.directions.row(k);
    out.push_back(watched_sum(kNames[k], {direction.begin(), direction.end()}));
  }
  return out;
}

MixingWatch::MixingWatch(std::vector<WatchedNumber> numbers, std::size_t chains, std::uint64_t sweeps, bool bounded)
    : numbers_(std::move(numbers)),
      bounded_(bounded),
      sweeps_(sweeps),
      warm_up_(sweeps / 2),
      watched_(std::min(chains, kMostChains)) {
  every_ = rounded_up_ratio(sweeps_ - warm_up_, kMostDrawsOfAll / watched_);
  draws_ = rounded_up_ratio(sweeps_ - warm_up_, every_);
  traces_.assign(numbers_.size(), Matrix<double>(watched_, draws_));
}

bool MixingWatch::too_short() const { return draws_ < kFewestJudgedDraws; }

void MixingWatch::look(const Chains& chains, const Context& context) {
  const bool due = chains.sweep > warm_up_ && (sweeps_ - chains.sweep) % every_ == 0;  // the last sweep always is
  if (too_short() || !due) return;
  std::vector<State> seen;
  for (const State& layer : chains.layers) seen.push_back(layer.rows(0, watched_));
  for (std::size_t k = 0; k < numbers_.size(); ++k) {
    const std::vector<double> found = numbers_[k].of(seen, context);
    for (std::size_t chain = 0; chain < watched_; ++chain) traces_[k](chain, recorded_) = found[chain];
  }
  ++recorded_;
}

MixingReport MixingWatch::report(bool alike) const {
  MixingReport out{watched_, recorded_, every_, bounded_, {}, {}};
  if (too_short()) {
    out.verdict.reason = fmt::format("the run is too short to judge, with {} sweeps; {} are the fewest", sweeps_,
                                     2 * kFewestJudgedDraws - 1);
    return out;
  }
  assert(recorded_ == draws_);
  for (std::size_t k = 0; k < numbers_.size(); ++k) {
    out.quantities.push_back(judged(numbers_[k].name, traces_[k], every_));
  }
  out.verdict = verdict_on_all(out.quantities);
  if (alike && out.verdict.mixing == Mixing::kYes) {
    out.verdict = {Mixing::kUnknown, "all chains started at one state, and may all have missed the same valley"};
  }
  return out;
}

MixingReport not_judged(std::string reason) {
  MixingReport out;
  out.verdict.reason = std::move(reason);
  return out;
}

bool all_alike(const State& x) {
  for (std::size_t r = 1; r < x.chains(); ++r) {
    for (std::size_t i = 0; i < x.units(); ++i) {
      if (x.value(r, i) != x.value(0, i)) return false;
    }
  }
  return true;
}

std::string worst_of(const MixingReport& report) {
  const MixingReport::Quantity* worst = nullptr;
  for (const auto& q : report.quantities) {
    if (q.verdict.mixing == Mixing::kNo && (!worst || !(q.diagnosis.r_hat <= worst->diagnosis.r_hat))) worst = &q;
  }
  if (!worst) return "";
  const Diagnosis& d = worst->diagnosis;
  if (!(d.r_hat < kLargestRHat)) {
    const int digits = d.r_hat < kFarRHat ? 3 : 2;  // near the threshold they matter
    return fmt::format("R-hat {:.{}f}, should be below {}", d.r_hat, digits, kLargestRHat);
  }
  return fmt::format("{:.0f} effective draws, should be above {}", std::min(d.ess_bulk, d.ess_tail),
                     kFewestEffectiveDraws);
}

std::string sentence(const MixingReport& report, bool tempered) {
  const bool mixed = report.verdict.mixing == Mixing::kYes;
  if (mixed) return "the chains have mixed";
  if (report.verdict.mixing == Mixing::kUnknown) {
    return fmt::format("whether the chains have mixed is not known: {}", report.verdict.reason);
  }
  std::string far;  // the number that is far from mixed
  for (const auto& q : report.quantities) {
    if (!(q.diagnosis.r_hat < kFarRHat) && q.verdict.mixing == Mixing::kNo && far.empty()) far = q.name;
  }
  const std::string so_far = fmt::format("the chains have not mixed ({})", worst_of(report));
  if (far.empty()) return so_far + ": more --sweeps are needed; see docs/mixing.md";
  const bool ordered = report.quantities[0].verdict.mixing != Mixing::kNo;  // the energy is that of every valley
  if (ordered && !tempered) {
    return fmt::format(
        "{}: the energy has, the {} has not, and more sweeps will not help; try --sampler tempering, see "
        "docs/mixing.md",
        so_far, far);
  }
  return so_far + ": samples are good to look at, averages over them are not; see docs/mixing.md";
}

}  // namespace ergodic
