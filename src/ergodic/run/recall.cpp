#include "ergodic/run/recall.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "ergodic/core/error.hpp"
#include "ergodic/data/damage.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/run/finite.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kRowsAtATime = 256;  // between two looks at whether to stop

/// All rows, a part of them at a time; nothing if stopped before the end.
std::optional<RecalledRows> recall_all(const Machine& machine, const State& given, const RecallOptions& options,
                                       Key key, const Context& context) {
  context.stage({"recall", "rows"});
  RecalledRows out{Matrix<float>(given.chains(), given.units()), {}};
  for (std::size_t begin = 0; begin < given.chains(); begin += kRowsAtATime) {
    if (context.stop_requested()) return std::nullopt;
    const std::size_t count = std::min(kRowsAtATime, given.chains() - begin);
    auto part = machine.recall(options, given.rows(begin, count), begin, key, context);
    require(part.has_value(), fmt::format("recall needs a Hopfield network, found a {}; `ergodic sample` draws from it",
                                          machine.kind().title));
    std::ranges::copy(part->values.elements(), out.values.row(begin).begin());
    std::ranges::move(part->paths, std::back_inserter(out.paths));
    context.progress({begin + count, given.chains()});
  }
  return out;
}

/// The mean over rows and units of x_i y_i.
double mean_overlap(const State& x, const Matrix<float>& y) {
  double sum = 0.0;
  for (std::size_t r = 0; r < y.rows(); ++r) {
    for (std::size_t i = 0; i < y.cols(); ++i) sum += double{x.value(r, i)} * y(r, i);
  }
  return sum / static_cast<double>(y.elements().size());
}

void add_means(const std::vector<RecallPath>& paths, RecallResult& result) {
  const auto rows = static_cast<double>(paths.size());
  for (const RecallPath& path : paths) {
    result.converged += path.ending == Ending::kAtRest ? 1 : 0;
    result.cycles += path.ending == Ending::kCycle ? 1 : 0;
    result.sweeps += static_cast<double>(path.sweeps()) / rows;
    result.energy_before += path.energies.front() / rows;
    result.energy_after += path.energies.back() / rows;
  }
}

}  // namespace

RecallResult recall_rows(const Machine& machine, const State& originals, double damage, const RecallOptions& options,
                         Key key, const Context& context) {
  RecallResult out;
  out.given = State(damaged(originals.bits(), damage, key.at(Purpose::kDamage)), originals.levels());
  auto recalled = recall_all(machine, out.given, options, key, context);
  out.stopped = !recalled;
  if (!recalled) return out;
  out.values = std::move(recalled->values);
  require_finite(out.values.view(), "restored rows");
  add_means(recalled->paths, out);
  require_finite(out.energy_after, "the mean energy");
  if (damage > 0.0) {
    Matrix<float> given(out.given.chains(), out.given.units());
    unpack(out.given, given);
    out.overlap_before = mean_overlap(originals, given);
    out.overlap_after = mean_overlap(originals, out.values);
  }
  return out;
}

}  // namespace ergodic
