#include "ergodic/estimator/path.hpp"

#include "ergodic/kernels/products.hpp"

namespace ergodic {

std::vector<float> base_fields(const Layer& layer, const State& rows, const Precision& precision) {
  std::vector<double> means(rows.units());
  const double share[] = {1.0 / static_cast<double>(rows.chains())};
  add_column_sums(rows, share, means);
  // A unit that never changes would get an infinite field: no mean is taken to be closer to a level than this.
  const double margin = 1.0 / (static_cast<double>(rows.chains()) + 2.0);
  const std::vector<double> fields = fields_for_means(layer, means, precision.deviations, margin);
  return {fields.begin(), fields.end()};
}

State cycled(const State& rows, std::size_t count) {
  State out = rows.real() ? State(Matrix<float>(count, rows.units())) : State(count, rows.units(), rows.levels());
  for (std::size_t r = 0; r < count; ++r) out.set_row(r, rows, r % rows.chains());
  return out;
}

}  // namespace ergodic
