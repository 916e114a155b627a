#include "ergodic/run/reconstruct.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ergodic/core/error.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/machine/pictures.hpp"
#include "ergodic/run/finite.hpp"

namespace ergodic {
namespace {

double mean_difference(const Layer& visible, const State& rows, const Matrix<float>& means) {
  // Where one letter takes the place of another, two units differ.
  std::vector<double> share(rows.units());
  for (const Site& site : sites(visible)) {
    std::fill_n(share.begin() + static_cast<std::ptrdiff_t>(site.first), site.size, site.size == 1 ? 1.0 : 0.5);
  }
  const Matrix<float> values = plain_values(rows);
  double sum = 0.0;
  for (std::size_t r = 0; r < values.rows(); ++r) {
    for (std::size_t i = 0; i < values.cols(); ++i) {
      const double difference = double{values(r, i)} - means(r, i);
      sum += rows.real() ? difference * difference : share[i] * std::abs(difference);
    }
  }
  const double mean = sum / static_cast<double>(rows.chains() * sites_of(visible));
  return rows.real() ? std::sqrt(mean) : mean;
}

}  // namespace

Reconstructions reconstruct(const Machine& machine, const State& rows, Key key, const Context& context) {
  auto made = machine.reconstructions(rows, key, context);
  require(made.has_value(),
          fmt::format("reconstruct needs a restricted Boltzmann machine, found a {}", machine.kind().title));
  require_finite(made->view(), "reconstructions");
  const double error = mean_difference(machine.visible(), rows, *made);
  return {context.stop_requested(), std::move(*made), error};
}

}  // namespace ergodic
