#include "ergodic/run/reconstruct.hpp"

#include <fmt/format.h>

#include <cmath>

#include "ergodic/core/error.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/machine/pictures.hpp"

namespace ergodic {
namespace {

double mean_difference(const Layer& visible, const State& rows, const Matrix<float>& means) {
  const Matrix<float> values = plain_values(rows);
  double sum = 0.0;
  for (std::size_t k = 0; k < values.elements().size(); ++k) {
    const double difference = double{values.elements()[k]} - means.elements()[k];
    sum += rows.real() ? difference * difference : std::abs(difference);
  }
  const double sites = static_cast<double>(rows.chains() * sites_of(visible));
  // Where one letter takes the place of another, two units differ.
  return rows.real() ? std::sqrt(sum / sites) : sum / sites / (letters_of(visible) > 0 ? 2.0 : 1.0);
}

}  // namespace

Reconstructions reconstruct(const Machine& machine, const State& rows, Key key, const Context& context) {
  auto made = machine.reconstructions(rows, key, context);
  require(made.has_value(), fmt::format("reconstruct needs a restricted Boltzmann machine, found a {}",
                                        machine.kind().title));
  const double error = mean_difference(machine.visible(), rows, *made);
  return {context.stop_requested(), std::move(*made), error};
}

}  // namespace ergodic
