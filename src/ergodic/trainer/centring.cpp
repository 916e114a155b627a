#include "ergodic/trainer/centring.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ergodic/data/moments.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kRows = 32, kColumns = 64;  // of the weights, that one thread takes at a time

constexpr double kRealGap = 2.0;         // of hidden units, whose deviation given the visible ones is 1
constexpr double kVisibleGap = 0.3;      // of visible ones, in terms of the deviations of the data
constexpr std::size_t kDirections = 16;  // along which steps have lengths of their own
constexpr double kPrecisionRate = 0.3;   // steps of a log precision, in terms of the others

/// The gradient's parts.
struct Parts {
  MatrixView<double> weights;
  std::span<double> visible, hidden;
  std::span<double> visible_precision, hidden_precision;  // empty unless the layer is real
};

Parts parts_of(const Rbm& model, Statistics& gradient) {
  const auto part = [&](const char* slot) {
    const Slot& found = model.parameters().slot(slot);
    return std::span(gradient).subspan(found.offset, found.size);
  };
  const auto precision = [&](std::size_t block) {
    return real_valued(model.layer(block)) ? part(Rbm::precision_slot(block)) : std::span<double>();
  };
  return {{part("weights").data(), units_of(model.visible()), units_of(model.hidden())},
          part("visible_bias"),
          part("hidden_bias"),
          precision(Rbm::kVisible),
          precision(Rbm::kHidden)};
}

/// The derivative by the log of the precision where the mean stays, in place of the one where bias and weights stay.
void keep_means(const Rbm& model, const Parts& d) {
  const MatrixView<const float> weights = model.weights();
  for (std::size_t i = 0; i < d.visible_precision.size(); ++i) {
    double& dz = d.visible_precision[i];
    dz += model.visible_bias()[i] * d.visible[i];
    for (std::size_t j = 0; j < d.hidden.size(); ++j) dz += double{weights(i, j)} * d.weights(i, j);
  }
}

/// Shortens the steps of some columns along the directions.
void shorten(const Gaps& gaps, std::size_t begin, std::size_t end, MatrixView<double> steps) {
  std::vector<double> along(end - begin);
  for (std::size_t k = 0; k < gaps.shortened.size(); ++k) {
    const std::span<const double> u = gaps.directions.row(k);
    std::ranges::fill(along, 0.0);
    for (std::size_t i = 0; i < steps.rows(); ++i) {
      for (std::size_t j = begin; j < end; ++j) along[j - begin] += gaps.visible[i] * u[i] * steps(i, j);
    }
    for (std::size_t i = 0; i < steps.rows(); ++i) {
      const double share = gaps.shortened[k] * u[i] / gaps.visible[i];
      for (std::size_t j = begin; j < end; ++j) steps(i, j) -= share * along[j - begin];
    }
  }
}

}  // namespace

double gap_of(const Layer& layer) { return real_valued(layer) ? kRealGap : double{levels_of(layer).gap()}; }

Gaps gaps_of(const Rbm& model, const Dataset& data) {
  Gaps out{std::vector<double>(units_of(model.visible()), gap_of(model.visible())),
           std::vector<double>(units_of(model.hidden()), gap_of(model.hidden())),
           {},
           {},
           {}};
  if (!real_valued(model.visible())) return out;
  const std::vector<double> deviations = unit_deviations(data);
  PrincipalDirections principal = principal_directions(data, deviations, kDirections + 1);
  // Beyond these directions variances are no larger than the last of them, or than those of independent units.
  const double beyond = principal.variances.empty() ? 1.0 : std::max(1.0, principal.variances.back());
  for (std::size_t i = 0; i < deviations.size(); ++i) out.visible[i] = kVisibleGap * std::sqrt(beyond) * deviations[i];
  for (const double variance : principal.variances) out.shortened.push_back(1.0 - beyond / std::max(beyond, variance));
  out.directions = std::move(principal.directions);
  for (const double kurtosis : unit_kurtoses(data, deviations)) {
    out.precision.push_back(kPrecisionRate * 3.0 / std::max(kurtosis, 3.0));
  }
  return out;
}

void condition(const Rbm& model, const Gaps& gaps, std::span<const double> mu, std::span<const double> lambda,
               const Decay& decay, Statistics& gradient, const Context& context) {
  const Parts d = parts_of(model, gradient);
  const std::size_t n = d.visible.size(), m = d.hidden.size();
  const MatrixView<const float> weights = model.weights();
  keep_means(model, d);
  context.for_blocks(n, kRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      double* row = d.weights.row(i).data();
      const double mean = mu[i], change = d.visible[i], g = gaps.visible[i];
      for (std::size_t j = 0; j < m; ++j) {
        const double gap = g * gaps.hidden[j];
        row[j] = (row[j] - mean * d.hidden[j] - change * lambda[j]) / (gap * gap);
      }
      d.visible[i] /= g * g;
    }
  });
  context.for_blocks(m, kColumns, [&](std::size_t begin, std::size_t end) { shorten(gaps, begin, end, d.weights); });
  shorten(gaps, 0, 1, {d.visible.data(), n, 1});
  context.for_blocks(n, kRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      double* row = d.weights.row(i).data();
      const float* row_weights = weights.row(i).data();
      for (std::size_t j = 0; j < m; ++j) {
        const double w = row_weights[j], gap = gaps.visible[i] * gaps.hidden[j];
        const double sign = static_cast<double>(w > 0.0) - static_cast<double>(w < 0.0);
        row[j] -= decay.l2 * w + decay.l1_of(j) / gap * sign;
      }
      for (std::size_t j = 0; j < m; ++j) d.visible[i] -= row[j] * lambda[j];
    }
  });
  context.for_blocks(m, kColumns, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) d.hidden[j] /= gaps.hidden[j] * gaps.hidden[j];
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = begin; j < end; ++j) d.hidden[j] -= d.weights(i, j) * mu[i];
    }
    if (decay.hidden.bias.empty()) return;
    for (std::size_t j = begin; j < end; ++j) d.hidden[j] += decay.hidden.bias[j];
  });
  for (std::size_t i = 0; i < d.visible_precision.size(); ++i) {
    const double dz = d.visible_precision[i] *= gaps.precision[i];
    d.visible[i] += model.visible_bias()[i] * dz;
    for (std::size_t j = 0; j < m; ++j) d.weights(i, j) += weights(i, j) * dz;
  }
  for (double& dz : d.hidden_precision) dz = 0.0;
}

}  // namespace ergodic
