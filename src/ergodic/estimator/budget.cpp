#include "ergodic/estimator/budget.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ergodic/core/error.hpp"
#include "ergodic/core/number_text.hpp"
#include "ergodic/core/part_of_whole.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kChains = 128;
constexpr std::uint64_t kMostTemperatures = 100'000'000;
constexpr double kMostSeconds = 1e7;
constexpr std::uint64_t kGrowth = 4;           // from one round to the next
constexpr std::uint64_t kFewestOfARound = 32;  // temperatures
constexpr std::uint64_t kFirstOfTheClock = 100;
// For rows at which hidden units are annealed:
constexpr double kShareOfRows = 0.25;
constexpr std::uint64_t kTemperatureShare = 50, kFewestAtARow = 50;
constexpr std::size_t kFewestRows = 100, kEnoughRows = 1000, kTriedRows = 4, kFewestOfTheClock = 16;

/// How many temperatures the rounds of a budget have, given the seconds that all so far have taken.
class Rounds {
 public:
  Rounds(const Budget& budget, const Clock& clock) : budget_(budget), clock_(clock), started_(clock()) {}

  /// 0 after the last round.
  std::uint64_t next() {
    if (over_) return 0;
    const std::uint64_t out = budget_.temperatures > 0 ? next_of_number() : next_of_clock();
    last_ = out;
    all_ += out;
    return out;
  }

 private:
  /// A sixteenth of the temperatures, a quarter, all.
  std::uint64_t next_of_number() {
    const std::uint64_t all = budget_.temperatures;
    for (const std::uint64_t out : {all / (kGrowth * kGrowth), all / kGrowth}) {
      if (out > last_ && out >= kFewestOfARound) return out;
    }
    over_ = true;
    return all;
  }
  /// All that still fits, if that is no more than two rounds would make of it.
  std::uint64_t next_of_clock() {
    if (last_ == 0) return kFirstOfTheClock;
    const double spent = clock_() - started_, each = std::max(spent, 1e-9) / static_cast<double>(all_);
    const double fits = std::min((budget_.seconds - spent) / each, static_cast<double>(kMostTemperatures));
    if (fits < static_cast<double>(last_)) return 0;
    over_ = fits <= static_cast<double>(last_ * kGrowth * kGrowth);
    return over_ ? static_cast<std::uint64_t>(fits) : last_ * kGrowth;
  }

  Budget budget_;
  const Clock& clock_;
  double started_;
  std::uint64_t last_ = 0, all_ = 0;
  bool over_ = false;
};

struct RowPlan {
  std::size_t rows, temperatures;
};

/// The sweeps of all rounds of a budget in temperatures.
double sweeps_of_all(const Budget& budget) {
  double sweeps = 0.0;
  Rounds rounds(budget, steady_seconds);
  while (const std::uint64_t temperatures = rounds.next()) {
    sweeps += static_cast<double>(Annealer::sweeps_of_round(temperatures));
  }
  return sweeps;
}

/// Progress of a budget in seconds: the time that has passed, whatever was done in it.
class BySeconds : public PartOfWhole {
 public:
  BySeconds(const Context& context, double seconds)
      : PartOfWhole(context, 0.0, 1.0), seconds_(seconds), started_(steady_seconds()) {}
  void progress(const Progress&) override { done((steady_seconds() - started_) / seconds_); }

 private:
  double seconds_, started_;
};

/// By what a sweep of the machine costs, and one of its hidden units.
RowPlan plan_by_number(const Budget& budget, const ClampedRows& rows) {
  const std::size_t at_a_row = std::max(kFewestAtARow, budget.temperatures / kTemperatureShare);
  const double all = static_cast<double>(kChains) * sweeps_of_all(budget);
  const double one =
      static_cast<double>(ClampedRows::kChains * ClampedRows::sweeps_of_row(at_a_row)) * rows.cost_of_sweep();
  const double worth = std::min(kShareOfRows * all / one, static_cast<double>(rows.rows()));
  return {std::min(std::max(static_cast<std::size_t>(worth), kFewestRows), rows.rows()), at_a_row};
}

/// By the time that a few rows take: first more rows, then more temperatures.
RowPlan plan_by_clock(double seconds, ClampedRows tried, const Context& context, const Clock& clock) {
  const double started = clock();
  tried.anneal(kTriedRows, kFewestAtARow, {context.threads});
  const double spent = std::max(clock() - started, 1e-9);
  const double row = spent / static_cast<double>(tried.rows_done()), left = std::max(seconds - spent, 0.0);
  const auto enough = static_cast<double>(std::min(tried.rows(), kEnoughRows));
  const double longer = std::clamp(left / (row * enough), 1.0, static_cast<double>(kMostTemperatures / kFewestAtARow));
  const double rows = std::max(left / (row * longer), static_cast<double>(kFewestOfTheClock));
  return {std::min(static_cast<std::size_t>(rows), tried.rows()),
          static_cast<std::size_t>(longer * static_cast<double>(kFewestAtARow))};
}

}  // namespace

Budget budget_from(const std::string& text) {
  Budget out;
  const bool timed = text.ends_with('s');
  if (timed) {
    out.seconds = number_in<double>(std::string_view(text).substr(0, text.size() - 1)).value_or(0.0);
  } else {
    out.temperatures = whole_number_in(text).value_or(0);
  }
  require(timed ? out.seconds >= 1e-3 && out.seconds <= kMostSeconds
                : out.temperatures >= 1 && out.temperatures <= kMostTemperatures,
          fmt::format("--budget: expected a number of temperatures from 1 to {}, as 20000, or of seconds, as 30s; "
                      "found '{}'",
                      kMostTemperatures, text));
  return out;
}

std::optional<BudgetedLogZ> spend(const Budget& budget, Path& path, const State& rows, Key key, const Context& context,
                                  const Clock& clock) {
  Annealer annealer(path, rows, kChains, key, context);
  std::optional<BudgetedLogZ> out;
  Rounds rounds(budget, clock);
  BySeconds by_seconds(context, budget.seconds);
  const double all = budget.temperatures > 0 ? sweeps_of_all(budget) : 0.0;
  double before = 0.0;  // sweeps
  while (const std::uint64_t temperatures = rounds.next()) {
    const double after = before + static_cast<double>(Annealer::sweeps_of_round(temperatures));
    PartOfWhole by_sweeps(context, before / all, after / all);
    const std::optional<AnnealedLogZ> found =
        annealer.round(temperatures, all > 0.0 ? by_sweeps.context() : by_seconds.context());
    before = after;
    if (!found) {
      if (out) out->stopped = true;
      break;
    }
    out = BudgetedLogZ{*found};
    context.note(fmt::format("annealing both ways, {} temperatures: log Z {:.2f}, between {:.2f} and {:.2f}",
                             temperatures, found->log_z.value, found->log_z.lower, found->log_z.upper));
  }
  return out;
}

std::optional<ClampedLogZ> spend_on_rows(const Budget& budget, ClampedRows& clamped, const Context& context,
                                         const Clock& clock) {
  const RowPlan plan = budget.temperatures > 0 ? plan_by_number(budget, clamped)
                                               : plan_by_clock(kShareOfRows * budget.seconds, clamped, context, clock);
  if (!clamped.anneal(plan.rows, plan.temperatures, context)) return std::nullopt;
  clamped.bound_all({context.threads});
  const ClampedLogZ out = clamped.found();
  context.note(fmt::format(
      "annealing of the hidden units at {} of {} rows, {} temperatures: log Z(x) {:.2f}, between "
      "{:.2f} and {:.2f}",
      out.rows, clamped.rows(), plan.temperatures, out.mean.log_z.value, out.mean.log_z.lower, out.mean.log_z.upper));
  return out;
}

double share_of_rows(const Budget& budget) {
  // In temperatures the rows come on top of the work on log Z, in seconds out of its time.
  return budget.temperatures > 0 ? kShareOfRows / (1.0 + kShareOfRows) : kShareOfRows;
}

Budget after_rows(const Budget& budget) { return {budget.temperatures, (1.0 - kShareOfRows) * budget.seconds}; }

}  // namespace ergodic
