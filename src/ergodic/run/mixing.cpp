#include "ergodic/run/mixing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "ergodic/report/text.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kMostChains = 16;
constexpr std::size_t kMostDrawsOfAll = 3200;  // 200 of each of 16 chains, more of each if there are fewer
constexpr std::size_t kFewestJudgedDraws = 8;  // of a chain; its halves have four

constexpr char kRow[] = "{:<12} {:>10} {:<2} {:<8} {:>6} {:>9} {:>9} {:>21}\n";

std::uint64_t rounded_up_ratio(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

double activity_of(const State& state, std::size_t chain) {
  double sum = 0.0;
  if (state.real()) {
    for (const float value : state.reals().row(chain)) sum += value;
  } else {
    for (const std::uint64_t word : state.bits().row(chain)) sum += std::popcount(word);
  }
  return sum / static_cast<double>(state.units());
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

std::string cell(double value, int digits) { return std::isnan(value) ? "-" : fmt::format("{:.{}f}", value, digits); }

/// Correlations of a function of the visible units fall with the lag in block Gibbs sampling (docs/math.md), so that a
/// time measured on every k-th sweep is too long, by at most k - 1 sweeps. Of other samplers nobody knows.
std::string time_cell(double sweeps, const MixingReport& report) {
  const char* sign = report.every == 1 ? "" : report.bounded ? "<= " : "about ";
  return std::isnan(sweeps) ? "-" : fmt::format("{}{:.1f} sweeps", sign, sweeps);
}

std::string row_of(const MixingReport::Quantity& quantity, const MixingReport& report) {
  const Diagnosis& d = quantity.diagnosis;
  const std::string error = std::isnan(d.standard_error) ? "-" : fmt::format("{:.2g}", d.standard_error);
  return fmt::format(kRow, quantity.name, short_number(d.mean), "+-", error, cell(d.r_hat, 3), cell(d.ess_bulk, 0),
                     cell(d.ess_tail, 0), time_cell(d.autocorrelation_time, report));
}

std::string table_of(const MixingReport& report) {
  std::string out =
      fmt::format(kRow, "quantity", "mean", "", "error", "R-hat", "bulk ESS", "tail ESS", "autocorrelation time");
  for (const auto& quantity : report.quantities) out += row_of(quantity, report);
  const std::string how_often = report.every == 1 ? "every sweep" : fmt::format("every {} sweeps", report.every);
  return out + fmt::format("chains watched: {}; draws of each: {}, {} of the second half of the run\n", report.chains,
                           report.draws, how_often);
}

nlohmann::ordered_json json_of(const Diagnosis& diagnosis) {
  return {{"mean", diagnosis.mean},         {"standard_error", diagnosis.standard_error},
          {"r_hat", diagnosis.r_hat},       {"ess_bulk", diagnosis.ess_bulk},
          {"ess_tail", diagnosis.ess_tail}, {"autocorrelation_time", diagnosis.autocorrelation_time}};
}

}  // namespace

WatchedNumber watched_energy(const Rbm& machine) {
  return {"free energy",
          [&machine](const State& x, const Context& context) { return machine.free_energy(x, context); }};
}

WatchedNumber watched_activity() {
  return {"activity", [](const State& x, const Context&) {
            std::vector<double> out;
            for (std::size_t chain = 0; chain < x.chains(); ++chain) out.push_back(activity_of(x, chain));
            return out;
          }};
}

WatchedNumber watched_sum(std::vector<float> weights) {
  return {"sum", [weights = std::move(weights)](const State& x, const Context&) {
            std::vector<double> out(x.chains());
            for (std::size_t chain = 0; chain < x.chains(); ++chain) {
              for (std::size_t i = 0; i < weights.size(); ++i) out[chain] += double{weights[i]} * x.value(chain, i);
            }
            return out;
          }};
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
  const State visible = chains.layers[0].rows(0, watched_);
  for (std::size_t k = 0; k < numbers_.size(); ++k) {
    const std::vector<double> found = numbers_[k].of(visible, context);
    for (std::size_t chain = 0; chain < watched_; ++chain) traces_[k](chain, recorded_) = found[chain];
  }
  ++recorded_;
}

MixingReport MixingWatch::report() const {
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
  return out;
}

MixingReport not_judged(std::string reason) {
  MixingReport out;
  out.verdict.reason = std::move(reason);
  return out;
}

std::string sentence(const MixingReport& report) {
  switch (report.verdict.mixing) {
    case Mixing::kYes:
      return "the chains have mixed";
    case Mixing::kNo:
      return fmt::format("the chains have not mixed: {}; more sweeps are needed", report.verdict.reason);
    case Mixing::kUnknown:
      break;
  }
  return fmt::format("whether the chains have mixed is not known: {}", report.verdict.reason);
}

std::string to_json(const MixingReport& report) {
  nlohmann::ordered_json out{{"mixed", nullptr}};
  if (report.verdict.mixing != Mixing::kUnknown) out["mixed"] = report.verdict.mixing == Mixing::kYes;
  if (!report.verdict.reason.empty()) out["reason"] = report.verdict.reason;
  out["chains"] = report.chains;
  out["draws"] = report.draws;
  out["every"] = report.every;
  out["quantities"] = nlohmann::ordered_json::object();
  for (const auto& quantity : report.quantities) {
    std::string key = quantity.name;
    std::replace(key.begin(), key.end(), ' ', '_');
    out["quantities"][key] = json_of(quantity.diagnosis);
  }
  return out.dump();
}

std::string to_text(const MixingReport& report) {
  const std::string table = report.quantities.empty() ? "" : table_of(report);
  return table + (report.verdict.mixing == Mixing::kNo ? "" : sentence(report) + "\n");
}

}  // namespace ergodic
