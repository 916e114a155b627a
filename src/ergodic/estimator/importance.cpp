#include "ergodic/estimator/importance.hpp"

#include <algorithm>
#include <cmath>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/matrix.hpp"

namespace ergodic {
namespace {

constexpr std::uint64_t kFirstStep = std::uint64_t{1} << 41;  // of the draws up, beyond those of training

}  // namespace

Estimate importance_bound(std::span<const double> log_weights) {
  const double largest = *std::ranges::max_element(log_weights);
  const auto count = static_cast<double>(log_weights.size());
  double sum = 0.0, squares = 0.0;
  for (const double w : log_weights) {
    const double weight = portable_exp(w - largest);
    sum += weight;
    squares += weight * weight;
  }
  // The spread of the weights about their mean, as a share of the mean.
  const double spread = std::max(squares / (sum * sum) * count - 1.0, 0.0);
  const double value = largest + portable_log(sum / count);
  return {value, value, value, count > 1.0 ? std::sqrt(spread / (count - 1.0)) : 0.0, "importance sampling"};
}

std::optional<std::vector<Estimate>> importance_bounds(const Dbn& model, const State& rows, std::size_t draws,
                                                       std::size_t first_row, Key key, const Context& context) {
  Matrix<double> log_weights(rows.chains(), draws);
  for (std::size_t d = 0; d < draws; ++d) {
    if (context.stop_requested()) return std::nullopt;
    const LayerDraws drawn{key, Purpose::kDataHidden, kFirstStep + d, first_row};
    const std::vector<State> up = model.draw_up(model.values_of(rows), model.depth() - 1, drawn, context);
    const std::vector<double> found = model.log_weights(up, rows, context);
    for (std::size_t r = 0; r < found.size(); ++r) log_weights(r, d) = found[r];
  }
  std::vector<Estimate> out;
  for (std::size_t r = 0; r < rows.chains(); ++r) out.push_back(importance_bound(log_weights.row(r)));
  return out;
}

}  // namespace ergodic
