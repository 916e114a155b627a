#include "ergodic/run/final_likelihood.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ergodic/core/permutation.hpp"
#include "ergodic/report/clock.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kMostRows = 2000;
constexpr double kLeastSeconds = 3.0, kPatience = 2.0;  // a first round may take longer than it should
constexpr std::uint8_t kRowStream = 2;                  // of splitting: stream 0 sets rows apart, 1 chooses pairs

constexpr char kNoTime[] =
    "no likelihood: a first look at it takes longer than a tenth of the training; `ergodic evaluate` has the time";

/// Silent, but stops when the run is to stop, or when the time is over.
class Silent : public Observer {
 public:
  Silent(double seconds, const Context& context) : ends_(steady_seconds() + seconds), context_(context) {}
  bool stop_requested() override { return context_.stop_requested() || steady_seconds() > ends_; }

 private:
  double ends_;
  const Context& context_;
};

State some_rows(const Layer& visible, const Dataset& data, Key key) {
  std::vector<std::uint32_t> rows = permutation(data.rows(), key.at(Purpose::kSplit, 0, kRowStream));
  rows.resize(std::min(rows.size(), kMostRows));
  return state_of(visible, gather(data, rows, key, 0));
}

}  // namespace

std::optional<FinalLikelihood> final_likelihood(const Annealable& machine, const Dataset& train,
                                                const Dataset& held_out, double seconds, Key key,
                                                const Context& context) {
  const bool apart = held_out.rows() > 0;
  const Dataset& data = apart ? held_out : train;
  if (!data.complete() || context.stop_requested()) return std::nullopt;
  Silent silent(kLeastSeconds + kPatience * seconds, context);
  const Context inner{context.threads, &silent};
  const State rows = some_rows(machine.visible, data, key);
  const Budget budget{0, seconds};
  const std::optional<FreeEnergy> energy = machine.free_energy(rows, budget, key, inner);
  const auto found = energy ? spend(budget, *machine.path(rows, inner), rows, key, inner) : std::nullopt;
  if (!found) {
    if (!context.stop_requested()) context.note(kNoTime);
    return std::nullopt;
  }
  return FinalLikelihood{log_likelihood_of(energy->mean, found->found.log_z), energy->row_error, energy->rows, apart,
                         found->found.temperatures};
}

std::string to_text(const FinalLikelihood& found) {
  return fmt::format(
      "log-likelihood of {} {} rows: {:.2f} nats a row, between {:.2f} and {:.2f} ({}, {} temperatures), "
      "+- {:.2f} over rows; `ergodic evaluate` narrows it\n",
      found.rows, found.held_out ? "held-out" : "training", found.log_likelihood.value, found.log_likelihood.lower,
      found.log_likelihood.upper, found.log_likelihood.method, found.temperatures, found.row_error);
}

}  // namespace ergodic
