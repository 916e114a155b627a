#include "ergodic/trainer/conditioning.hpp"

namespace ergodic {

void condition(const Rbm& model, std::span<const double> mu, std::span<const double> lambda, const Decay& decay,
               Statistics& gradient, const Context& context) {
  const std::size_t n = units_of(model.visible()), m = units_of(model.hidden());
  const double g = levels_of(model.visible()).gap(), h = levels_of(model.hidden()).gap();
  const double weight_factor = 1.0 / (g * h * g * h);
  const double l1 = decay.l1 / (g * h), l2 = decay.l2;
  const MatrixView<double> dw(gradient.data(), n, m);
  const std::span<double> db(gradient.data() + n * m, n);
  const std::span<double> dc(gradient.data() + n * m + n, m);
  constexpr std::size_t kRows = 32;
  context.for_blocks(n, kRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      double* row = dw.row(i).data();
      const double mean = mu[i], change = db[i];
      const float* weights = model.weights().row(i).data();
      for (std::size_t j = 0; j < m; ++j) {
        const double w = weights[j];
        const double sign = static_cast<double>(w > 0.0) - static_cast<double>(w < 0.0);
        row[j] = weight_factor * (row[j] - mean * dc[j] - change * lambda[j]) - l2 * w - l1 * sign;
      }
      db[i] /= g * g;
      for (std::size_t j = 0; j < m; ++j) db[i] -= row[j] * lambda[j];
    }
  });
  constexpr std::size_t kColumns = 64;
  context.for_blocks(m, kColumns, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) dc[j] /= h * h;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = begin; j < end; ++j) dc[j] -= dw(i, j) * mu[i];
    }
  });
}

}  // namespace ergodic
