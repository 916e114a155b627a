#include "ergodic/run/budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kChains = 128;
constexpr std::uint64_t kMostTemperatures = 100'000'000;
constexpr double kMostSeconds = 1e7;
constexpr std::uint64_t kGrowth = 4;           // from one round to the next
constexpr std::uint64_t kFewestOfARound = 32;  // temperatures
constexpr std::uint64_t kFirstOfTheClock = 100;

/// Parses all of a text as a number between two others.
template <class T>
bool parse(std::string_view text, T lowest, T highest, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() && out >= lowest && out <= highest;
}

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

}  // namespace

Budget budget_from(const std::string& text) {
  Budget out;
  const bool timed = text.ends_with('s');
  const bool good = timed ? parse(std::string_view(text).substr(0, text.size() - 1), 1e-3, kMostSeconds, out.seconds)
                          : parse(std::string_view(text), std::uint64_t{1}, kMostTemperatures, out.temperatures);
  require(good,
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
  while (const std::uint64_t temperatures = rounds.next()) {
    const std::optional<AnnealedLogZ> found = annealer.round(temperatures, context);
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

}  // namespace ergodic
