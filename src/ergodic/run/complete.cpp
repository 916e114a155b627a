#include "ergodic/run/complete.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "ergodic/data/moments.hpp"
#include "ergodic/estimator/independent.hpp"
#include "ergodic/machine/pictures.hpp"
#include "ergodic/machine/rows.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kMostJudged = 100;
constexpr double kSmallestDeviation = 1e-6;

/// A place that was hidden.
struct Hidden {
  std::size_t row, site;
};

/// Rows with all that guesses at their hidden values are compared with.
struct Judged {
  OpenRows open;  ///< with the true values
  Matrix<float> truth;
  std::vector<Site> sites;
  std::vector<Hidden> places;

  bool real() const { return open.rows.real(); }
};

Judged judged_rows(const Layer& visible, const OpenRows& open) {
  const std::size_t rows = std::min(open.rows.chains(), kMostJudged);
  Judged out{{open.rows.rows(0, rows), Bits(rows, open.rows.units())}, {}, sites(visible), {}};
  out.truth = plain_values(out.open.rows);
  for (std::size_t r = 0; r < rows; ++r) {
    std::ranges::copy(open.known.row(r), out.open.known.row(r).begin());
    for (std::size_t s = 0; s < out.sites.size(); ++s) {
      if (!open.known.get(r, out.sites[s].first)) out.places.push_back({r, s});
    }
  }
  return out;
}

/// Which value a site has, counted from 0, by the largest of its plain values.
std::size_t value_at(std::span<const float> row, const Site& site) {
  if (site.size == 1) return row[site.first] >= 0.5f ? 1 : 0;
  const auto begin = row.begin() + static_cast<std::ptrdiff_t>(site.first);
  return static_cast<std::size_t>(std::max_element(begin, begin + static_cast<std::ptrdiff_t>(site.size)) - begin);
}

/// What a guess at every hidden place is worth, from the first rows of a matrix. Of discrete sites a wrong value has a
/// constant share of the probability, of real ones the differences have a constant deviation: the best one, which no
/// real method could know.
FillingQuality of_guesses(const Judged& judged, const Matrix<float>& guess) {
  double wrong = 0.0, squares = 0.0, log_choices = 0.0;
  for (const auto& [row, site] : judged.places) {
    const Site& at = judged.sites[site];
    const double difference = double{judged.truth(row, at.first)} - guess(row, at.first);
    squares += difference * difference;
    if (judged.real() || value_at(judged.truth.row(row), at) == value_at(guess.row(row), at)) continue;
    wrong += 1.0;
    log_choices += std::log(static_cast<double>(at.values() - 1));
  }
  const auto count = static_cast<double>(judged.places.size()), n = static_cast<double>(judged.truth.rows());
  if (judged.real()) {
    const double mean = std::max(squares / count, kSmallestDeviation * kSmallestDeviation);
    return {std::sqrt(mean), exactly(-0.5 * count * (std::log(2.0 * std::numbers::pi * mean) + 1.0) / n)};
  }
  const double share = wrong / count, right = count - wrong;
  const double log_p = (wrong > 0.0 ? wrong * std::log(share) : 0.0) + (right > 0.0 ? right * std::log1p(-share) : 0.0);
  return {share, exactly((log_p - log_choices) / n)};
}

FillingQuality by_independent(const Judged& judged, const Layer& visible, const Dataset& reference) {
  const std::vector<double> means = unit_means(reference);
  Matrix<float> guess(judged.truth.rows(), judged.truth.cols());
  for (std::size_t r = 0; r < guess.rows(); ++r) std::ranges::copy(means, guess.row(r).begin());
  Bits hidden(guess.rows(), guess.cols());
  for (std::size_t r = 0; r < hidden.rows(); ++r) {
    for (std::size_t i = 0; i < hidden.cols(); ++i) hidden.set(r, i, !judged.open.known.get(r, i));
  }
  return {of_guesses(judged, guess).error,
          exactly(independent_log_likelihood(visible, reference, judged.open.rows, hidden))};
}

/// Rows with gaps are nobody's neighbours.
FillingQuality by_neighbour(const Judged& judged, const Layer& visible, const ReferenceRows& reference, Key key,
                            const Context& context) {
  const OpenRows known = open_rows_of(visible, reference.data, key);
  const Matrix<float> others = plain_values(known.rows);
  Matrix<float> guess(judged.truth.rows(), judged.truth.cols());
  context.for_blocks(guess.rows(), 1, [&](std::size_t r, std::size_t) {
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < others.rows(); ++k) {
      if ((reference.same && k == r) || !known.complete(k)) continue;
      double distance = 0.0;
      for (std::size_t i = 0; i < others.cols() && distance < nearest; ++i) {
        if (!judged.open.known.get(r, i)) continue;
        const double difference = double{judged.truth(r, i)} - others(k, i);
        distance += difference * difference;
      }
      if (distance >= nearest) continue;
      nearest = distance;
      std::ranges::copy(others.row(k), guess.row(r).begin());
    }
  });
  return of_guesses(judged, guess);
}

/// The mean over rows of log p(hidden | known) = the log sum over the row alone minus that over all it leaves open.
Estimate mean_log_probability(const std::vector<Estimate>& whole, const std::vector<Estimate>& open) {
  Estimate out{0.0, 0.0, 0.0, 0.0, "exact"};
  const auto n = static_cast<double>(whole.size());
  for (std::size_t r = 0; r < whole.size(); ++r) {
    out.value += (whole[r].value - open[r].value) / n;
    out.lower += (whole[r].lower - open[r].upper) / n;
    out.upper += (whole[r].upper - open[r].lower) / n;
    out.standard_error =
        std::hypot(out.standard_error, std::hypot(whole[r].standard_error, open[r].standard_error) / n);
    for (const Estimate* e : {&whole[r], &open[r]}) {
      if (e->method != "exact") out.method = e->method;
    }
  }
  return out;
}

}  // namespace

Completions complete(const Machine& machine, const OpenRows& rows, const CompleteOptions& options, Key key,
                     const Context& context) {
  const OpenDrawOptions chains{options.sweeps, options.draws, options.means ? Averaged::kVisible : Averaged::kNothing};
  auto found = draw_open(machine, rows, chains, key, context);
  if (!found) return {true, {}, {}};
  if (options.means) return {false, found->means, found->means};
  Completions out{false, plain_values(machine.visible_of(found->chains)), {}};
  const auto means = machine.means_of(found->chains, context);
  out.shown = out.values;
  for (std::size_t r = 0; means && r < out.shown.rows(); ++r) {
    for (std::size_t i = 0; i < out.shown.cols(); ++i) {
      if (!rows.complete() && !rows.known.get(r / options.draws, i)) out.shown(r, i) = (*means)(r, i);
    }
  }
  return out;
}

std::optional<CompletionQuality> quality_of_completions(const Machine& machine, const OpenRows& open,
                                                        const Matrix<float>& values, const ReferenceRows& reference,
                                                        Key key, const Context& context) {
  const Layer visible = machine.visible();
  const Judged judged = judged_rows(visible, open);
  const State& rows = judged.open.rows;
  if (judged.places.empty() || !machine.given(rows, judged.open.known, judged.places[0].row)) return std::nullopt;
  context.stage({"judging the completions", "rows"});
  const auto whole = open_log_sums(machine, {rows, {}}, kRowTemperatures, key, context);
  const auto sums = whole ? open_log_sums(machine, judged.open, kRowTemperatures, key, context) : std::nullopt;
  if (!sums) return std::nullopt;
  CompletionQuality out;
  out.rows = rows.chains();
  out.hidden_sites = static_cast<double>(judged.places.size()) / static_cast<double>(out.rows);
  out.machine = {of_guesses(judged, values).error, mean_log_probability(*whole, *sums)};
  out.independent = by_independent(judged, visible, reference.data);
  out.neighbour = by_neighbour(judged, visible, reference, key, context);
  return out;
}

}  // namespace ergodic
