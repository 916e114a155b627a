#include "ergodic/run/score.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ergodic/core/part_of_whole.hpp"
#include "ergodic/run/evaluate.hpp"
#include "ergodic/run/finite.hpp"

namespace ergodic {
namespace {

constexpr double kShortSum = 20.0;        // log Z of so many terms, as a power of two, is found unasked: a second
constexpr double kShareOfEnergies = 0.5;  // of the work, about, where log Z is estimated too

std::optional<Estimate> log_z_for(const Machine& machine, const OpenRows& rows, const ScoreOptions& options, Key key,
                                  const Context& context) {
  if (options.log_z) return Estimate{*options.log_z, *options.log_z, *options.log_z, 0.0, "given"};
  if (!options.budget && machine.exact_bits() > kShortSum) return std::nullopt;
  context.stage({"log Z", "steps"});
  return find_log_z(machine, completed_rows(machine, rows, key, context), options.budget.value_or(Budget{}), {}, key,
                    context)
      .log_z;
}

/// Rows with gaps have no conditionals of single sites that are short sums.
std::optional<Matrix<double>> surprise_of(const Machine& machine, const OpenRows& rows, const Context& context) {
  auto out = machine.site_log_probabilities(rows.rows, context);
  if (!out) return std::nullopt;
  for (std::size_t r = 0; r < out->rows(); ++r) {
    const bool whole = rows.complete(r);
    for (double& value : out->row(r)) value = whole ? -value : std::numeric_limits<double>::quiet_NaN();
  }
  return out;
}

std::vector<std::size_t> ranks_of(const std::vector<Estimate>& energies) {
  std::vector<std::size_t> order(energies.size()), out(energies.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return energies[a].value > energies[b].value; });
  for (std::size_t k = 0; k < order.size(); ++k) out[order[k]] = k + 1;
  return out;
}

}  // namespace

double Scores::pseudo_log_likelihood(std::size_t row) const {
  const std::span<const double> values = surprise->row(row);
  return -std::accumulate(values.begin(), values.end(), 0.0);
}

Scores score(const Machine& machine, const OpenRows& rows, const ScoreOptions& options, Key key,
             const Context& context) {
  Scores out;
  out.stopped = true;
  out.hidden_units = machine.hidden_layers() > 0;
  const bool estimated = options.budget && !options.log_z;
  PartOfWhole first(context, 0.0, estimated ? kShareOfEnergies : 1.0), second(context, kShareOfEnergies, 1.0);
  const Context part = first.context();
  part.stage({"free energies", "rows"});
  const auto sums = open_log_sums(machine, rows, kRowTemperatures, key, part);
  if (!sums) return out;
  for (const Estimate& sum : *sums) {
    out.free_energies.push_back({-sum.value, -sum.upper, -sum.lower, sum.standard_error, sum.method});
    require_finite(out.free_energies.back(), "the free energy of a row");
  }
  out.rank = ranks_of(out.free_energies);
  out.log_z = log_z_for(machine, rows, options, key, estimated ? second.context() : context);
  if (out.log_z) {
    for (const Estimate& energy : out.free_energies) out.log_p.push_back(log_likelihood_of(energy, *out.log_z));
  }
  out.surprise = surprise_of(machine, rows, context);
  out.stopped = context.stop_requested();
  return out;
}

std::optional<double> area_under_curve(const std::vector<Estimate>& free_energies, const std::vector<int>& labels,
                                       int label) {
  std::vector<std::pair<double, bool>> all;
  for (std::size_t r = 0; r < labels.size(); ++r) {
    if (labels[r] >= 0) all.emplace_back(free_energies[r].value, labels[r] == label);
  }
  std::ranges::sort(all);
  double below = 0.0, sum = 0.0;  // rows of other labels below; over rows of this one
  std::size_t own = 0;
  for (std::size_t first = 0; first < all.size();) {
    std::size_t last = first;
    while (last < all.size() && all[last].first == all[first].first) ++last;
    const auto same = static_cast<double>(std::count_if(all.begin() + static_cast<std::ptrdiff_t>(first),
                                                        all.begin() + static_cast<std::ptrdiff_t>(last),
                                                        [](const auto& row) { return row.second; }));
    const double others = static_cast<double>(last - first) - same;
    sum += same * (below + 0.5 * others);
    below += others;
    own += static_cast<std::size_t>(same);
    first = last;
  }
  if (own == 0 || below == 0.0) return std::nullopt;
  return sum / (static_cast<double>(own) * below);
}

}  // namespace ergodic
