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

/// The places that were hidden: rows and sites.
struct Hidden {
  std::size_t row, site;
};

std::vector<Hidden> hidden_in(const OpenRows& open, const std::vector<Site>& sites) {
  std::vector<Hidden> out;
  for (std::size_t r = 0; r < open.rows.chains(); ++r) {
    for (std::size_t s = 0; s < sites.size(); ++s) {
      if (!open.known.get(r, sites[s].first)) out.push_back({r, s});
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

/// What a prediction of every hidden place is worth. Of discrete sites a wrong value has a constant share of the
/// probability, of real ones the differences have a constant deviation: the best one, which no real method could know.
FillingQuality of_guesses(const std::vector<Hidden>& places, const std::vector<Site>& sites, bool real,
                          const Matrix<float>& truth, const Matrix<float>& guess, std::size_t rows) {
  double wrong = 0.0, squares = 0.0, log_choices = 0.0;
  for (const auto& [row, site] : places) {
    const Site& at = sites[site];
    const double difference = double{truth(row, at.first)} - guess(row, at.first);
    squares += difference * difference;
    if (real || value_at(truth.row(row), at) == value_at(guess.row(row), at)) continue;
    wrong += 1.0;
    log_choices += std::log(static_cast<double>(at.values() - 1));
  }
  const auto count = static_cast<double>(places.size()), n = static_cast<double>(rows);
  if (real) {
    const double mean = std::max(squares / count, kSmallestDeviation * kSmallestDeviation);
    return {std::sqrt(mean), exactly(-0.5 * count * (std::log(2.0 * std::numbers::pi * mean) + 1.0) / n)};
  }
  const double share = wrong / count, right = count - wrong;
  const double log_p = (wrong > 0.0 ? wrong * std::log(share) : 0.0) + (right > 0.0 ? right * std::log1p(-share) : 0.0);
  return {share, exactly((log_p - log_choices) / n)};
}

FillingQuality by_independent(const std::vector<Hidden>& places, const Layer& visible, const OpenRows& judged,
                              const Matrix<float>& truth, const Dataset& reference) {
  const std::vector<double> means = unit_means(reference);
  Matrix<float> guess(truth.rows(), truth.cols());
  for (std::size_t r = 0; r < guess.rows(); ++r) std::ranges::copy(means, guess.row(r).begin());
  Bits hidden(judged.known.rows(), judged.known.cols());
  for (std::size_t r = 0; r < hidden.rows(); ++r) {
    for (std::size_t i = 0; i < hidden.cols(); ++i) hidden.set(r, i, !judged.known.get(r, i));
  }
  return {of_guesses(places, sites(visible), judged.rows.real(), truth, guess, truth.rows()).error,
          exactly(independent_log_likelihood(visible, reference, judged.rows, hidden))};
}

FillingQuality by_neighbour(const std::vector<Hidden>& places, const std::vector<Site>& sites, bool real,
                            const Matrix<float>& truth, const OpenRows& open, const Matrix<float>& reference, bool same,
                            const Context& context) {
  Matrix<float> guess(truth.rows(), truth.cols());
  context.for_blocks(truth.rows(), 1, [&](std::size_t r, std::size_t) {
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < reference.rows(); ++k) {
      if (same && k == r) continue;
      double distance = 0.0;
      for (std::size_t i = 0; i < truth.cols() && distance < nearest; ++i) {
        if (!open.known.get(r, i)) continue;
        const double difference = double{truth(r, i)} - reference(k, i);
        distance += difference * difference;
      }
      if (distance >= nearest) continue;
      nearest = distance;
      std::ranges::copy(reference.row(k), guess.row(r).begin());
    }
  });
  return of_guesses(places, sites, real, truth, guess, truth.rows());
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

Matrix<float> first_of(const Matrix<float>& values, std::size_t rows) {
  Matrix<float> out(rows, values.cols());
  for (std::size_t r = 0; r < rows; ++r) std::ranges::copy(values.row(r), out.row(r).begin());
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

std::optional<CompletionQuality> quality_of_completions(const Machine& machine, const State& truth,
                                                        const OpenRows& open, const Matrix<float>& values,
                                                        const ReferenceRows& reference, Key key,
                                                        const Context& context) {
  const std::size_t rows = std::min(truth.chains(), kMostJudged);
  OpenRows judged{truth.rows(0, rows), Bits(rows, truth.units())};
  for (std::size_t r = 0; r < rows; ++r) std::ranges::copy(open.known.row(r), judged.known.row(r).begin());
  const std::vector<Site> all = sites(machine.visible());
  const std::vector<Hidden> places = hidden_in(judged, all);
  if (places.empty() || !machine.given(judged.rows, judged.known, places[0].row)) return std::nullopt;
  context.stage({"judging the completions", "rows"});
  const auto whole = open_log_sums(machine, {judged.rows, {}}, kRowTemperatures, key, context);
  const auto sums = whole ? open_log_sums(machine, judged, kRowTemperatures, key, context) : std::nullopt;
  if (!sums) return std::nullopt;
  const Matrix<float> true_values = plain_values(judged.rows);
  const Matrix<float> others = plain_values(all_rows(machine.visible(), reference.data, key));
  const bool real = truth.real();
  CompletionQuality out;
  out.rows = rows;
  out.hidden_sites = static_cast<double>(places.size()) / static_cast<double>(rows);
  out.machine = of_guesses(places, all, real, true_values, first_of(values, rows), rows);
  out.machine.log_probability = mean_log_probability(*whole, *sums);
  out.independent = by_independent(places, machine.visible(), judged, true_values, reference.data);
  out.neighbour = by_neighbour(places, all, real, true_values, judged, others, reference.same, context);
  return out;
}

}  // namespace ergodic
