#include "ergodic/sampler/population.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <vector>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

/// How often each of them is drawn: the points k + uniform that lie on its part of a line as long as there are weights.
/// The parts lie in the order of the weights, so that of chains which weigh alike, many as they may be, as many are
/// drawn as their weights add up to; in any other order neighbours round each other off.
std::vector<std::size_t> systematic_counts(std::span<const double> weights, double sum, double uniform) {
  std::vector<std::size_t> order(weights.size()), counts(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t r) { return weights[r]; });
  const double points = static_cast<double>(weights.size()) / sum;
  double reached = 0.0;
  std::size_t drawn = 0;
  for (const std::size_t r : order) {
    reached += weights[r];
    const auto all = static_cast<std::size_t>(std::max(0.0, std::ceil(reached * points - uniform)));
    counts[r] = std::clamp(all, drawn, weights.size()) - drawn;
    drawn += counts[r];
  }
  counts[order.back()] += weights.size() - drawn;  // what rounding may have left
  return counts;
}

}  // namespace

double draw_by_weight(std::span<const double> log_weights, double uniform, Chains& chains,
                      std::span<std::size_t> families) {
  assert(log_weights.size() == chains.count());
  const double largest = *std::ranges::max_element(log_weights);
  std::vector<double> weights;
  double sum = 0.0, squares = 0.0;
  for (const double log_weight : log_weights) {
    const double weight = portable_exp(log_weight - largest);
    weights.push_back(weight);
    sum += weight;
    squares += weight * weight;
  }
  if (!std::isfinite(sum)) throw NumericError("a chain weighs no number");

  const std::vector<std::size_t> counts = systematic_counts(weights, sum, uniform);
  std::size_t parent = 0, copies = 0;  // of `parent`, that have been made
  for (std::size_t r = 0; r < counts.size(); ++r) {
    if (counts[r] > 0) continue;
    while (counts[parent] <= copies + 1) {
      ++parent;
      copies = 0;
    }
    ++copies;
    for (State& layer : chains.layers) layer.set_row(r, layer, parent);
    if (!families.empty()) families[r] = families[parent];
  }
  return sum * sum / (static_cast<double>(weights.size()) * squares);
}

}  // namespace ergodic
