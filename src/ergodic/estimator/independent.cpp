#include "ergodic/estimator/independent.hpp"

#include <numbers>

#include "ergodic/core/elementary.hpp"
#include "ergodic/data/moments.hpp"

namespace ergodic {
namespace {

double normal_log_likelihood(const Dataset& data, const State& rows) {
  const std::vector<double> means = unit_means(data), deviations = unit_deviations(data);
  double sum = 0.0;
  for (std::size_t i = 0; i < means.size(); ++i) {
    double squares = 0.0;
    for (std::size_t r = 0; r < rows.chains(); ++r) {
      const double z = (rows.value(r, i) - means[i]) / deviations[i];
      squares += z * z;
    }
    sum -= 0.5 * squares / static_cast<double>(rows.chains()) + portable_log(deviations[i]) +
           0.5 * portable_log(2.0 * std::numbers::pi);
  }
  return sum;
}

}  // namespace

double independent_log_likelihood(const Layer& visible, const Dataset& data, const State& rows) {
  if (real_valued(visible)) return normal_log_likelihood(data, rows);
  const Levels levels = levels_of(visible);
  std::vector<double> means = unit_means(data);
  for (double& mean : means) mean = levels.low + levels.gap() * mean;
  const std::vector<double> fields =
      fields_for_means(visible, means, {}, 1.0 / (static_cast<double>(data.rows()) + 2.0));
  double sum = -log_sum(visible, {fields, {}});
  for (std::size_t i = 0; i < fields.size(); ++i) {
    double values = 0.0;
    for (std::size_t r = 0; r < rows.chains(); ++r) values += rows.value(r, i);
    sum += fields[i] * values / static_cast<double>(rows.chains());
  }
  return sum;
}

}  // namespace ergodic
