#include "ergodic/estimator/independent.hpp"

#include <numbers>
#include <span>

#include "ergodic/core/elementary.hpp"
#include "ergodic/data/moments.hpp"

namespace ergodic {
namespace {

/// The mean over rows of the sum over known sites of log_p(row, number of the site, site).
template <class LogP>
double mean_over_rows(const Layer& visible, const State& rows, const Bits& known, const LogP& log_p) {
  const std::vector<Site> all = sites(visible);
  double sum = 0.0;
  for (std::size_t s = 0; s < all.size(); ++s) {
    for (std::size_t r = 0; r < rows.chains(); ++r) {
      if (known.rows() == 0 || known.get(r, all[s].first)) sum += log_p(r, s, all[s]);
    }
  }
  return sum / static_cast<double>(rows.chains());
}

double normal_log_likelihood(const Layer& visible, const Dataset& data, const State& rows, const Bits& known) {
  const std::vector<double> means = unit_means(data), deviations = unit_deviations(data);
  const double half_log = 0.5 * portable_log(2.0 * std::numbers::pi);
  return mean_over_rows(visible, rows, known, [&](std::size_t r, std::size_t, const Site& site) {
    const double z = (rows.value(r, site.first) - means[site.first]) / deviations[site.first];
    return -0.5 * z * z - portable_log(deviations[site.first]) - half_log;
  });
}

}  // namespace

double independent_log_likelihood(const Layer& visible, const Dataset& data, const State& rows, const Bits& known) {
  if (real_valued(visible)) return normal_log_likelihood(visible, data, rows, known);
  const Levels levels = levels_of(visible);
  std::vector<double> means = unit_means(data);
  for (double& mean : means) mean = levels.low + levels.gap() * mean;
  const std::vector<double> fields =
      fields_for_means(visible, means, {}, 1.0 / (static_cast<double>(data.rows()) + 2.0));
  std::vector<double> log_sums;  // over the values of each site
  for (const Site& site : sites(visible)) {
    const std::size_t place = log_sums.size();
    const std::span<const double> of_site = std::span(fields).subspan(site.first, site.size);
    log_sums.push_back(log_sum(layer_of_sites(visible, {&place, 1}), {of_site, {}}));
  }
  return mean_over_rows(visible, rows, known, [&](std::size_t r, std::size_t s, const Site& site) {
    double log_weight = 0.0;
    for (std::size_t u = site.first; u < site.first + site.size; ++u) log_weight += fields[u] * rows.value(r, u);
    return log_weight - log_sums[s];
  });
}

}  // namespace ergodic
