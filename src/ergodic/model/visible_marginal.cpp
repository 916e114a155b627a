#include "ergodic/model/visible_marginal.hpp"

#include "ergodic/kernels/fields.hpp"
#include "ergodic/model/concepts.hpp"

namespace ergodic {

static_assert(SmoothModel<VisibleMarginal>);

Matrix<double> VisibleMarginal::forces(const State& x, const Context& context) const {
  require_forces(units(), "sampling");
  const State hidden(machine.conditional_means(Rbm::kHidden, x, context));
  const std::span<const double> deviations = machine.precision(Rbm::kVisible).deviations;
  Matrix<double> out(x.chains(), x.units());
  for_fields(hidden, machine.map_to(Rbm::kVisible), context, [&](std::size_t r, std::span<const double> fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      out(r, i) = fields[i] - x.reals()(r, i) / (deviations[i] * deviations[i]);
    }
  });
  return out;
}

}  // namespace ergodic
