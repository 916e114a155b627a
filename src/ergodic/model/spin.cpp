#include "ergodic/model/spin.hpp"

namespace ergodic {

/// log(e^x + e^-x) = log(1 + e^2x) - x.
double Spin::log_sum_change(const LayerFields& at, double from, double to) const {
  std::vector<double> doubled(at.fields.size());
  double sum = 0.0;
  for (std::size_t j = 0; j < doubled.size(); ++j) {
    doubled[j] = 2.0 * at.fields[j];
    sum += at.fields[j];
  }
  return softplus_change(doubled, from, to) - (to - from) * sum;
}

}  // namespace ergodic
