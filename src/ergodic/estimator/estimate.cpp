#include "ergodic/estimator/estimate.hpp"

#include <cmath>

namespace ergodic {

Mean mean_with_error(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  double sum = 0.0;
  for (const double v : values) sum += v;
  const double mean = sum / count;
  double squares = 0.0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return {mean, values.size() > 1 ? std::sqrt(squares / (count - 1.0) / count) : 0.0};
}

double mean_of(std::span<const double> values) {
  double sum = 0.0;
  for (const double v : values) sum += v - values[0];
  return values[0] + sum / static_cast<double>(values.size());
}

double variance_of(std::span<const double> values) {
  const double mean = mean_of(values);
  double squares = 0.0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return squares / static_cast<double>(values.size() - 1);
}

}  // namespace ergodic
