#include "ergodic/model/proxies.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "ergodic/core/elementary.hpp"

namespace ergodic {
namespace {

// Keep apart the random numbers of one step.
constexpr std::uint8_t kFlipStream = 0, kUpStream = 1, kDownStream = 2;

constexpr std::size_t kFlipsInAll = 4096;  // shared among the rows: few rows are looked at more closely
constexpr std::size_t kFewestFlips = 4;

}  // namespace

std::vector<double> pseudo_log_likelihood(const Rbm& model, const State& rows, Key key, std::uint64_t step,
                                          const Context& context) {
  const Draw draw = key.at(Purpose::kMonitor, step, kFlipStream);
  const std::size_t units = rows.units();
  const std::size_t flips = std::min(units, std::max(kFlipsInAll / rows.chains(), kFewestFlips));
  Matrix<std::uint32_t> flipped(rows.chains(), flips);
  for (std::size_t r = 0; r < rows.chains(); ++r) {
    const std::size_t first = draw.below(units, static_cast<std::uint32_t>(r), 0);
    for (std::size_t k = 0; k < flips; ++k) {
      flipped(r, k) = static_cast<std::uint32_t>((first + k * units / flips) % units);
    }
  }
  const Matrix<double> costs = model.flip_costs(rows, flipped, context);
  std::vector<double> out(rows.chains());
  for (std::size_t r = 0; r < rows.chains(); ++r) {
    for (const double cost : costs.row(r)) {
      out[r] -= static_cast<double>(units) / static_cast<double>(flips) * softplus(-cost);
    }
  }
  return out;
}

State reconstruct(const Rbm& model, const State& rows, Key key, std::uint64_t step, const Context& context) {
  State layers[] = {rows, model.make_state(Rbm::kHidden, rows.chains())};
  model.resample(Rbm::kHidden, layers, key.at(Purpose::kMonitor, step, kUpStream), 0, context);
  model.resample(Rbm::kVisible, layers, key.at(Purpose::kMonitor, step, kDownStream), 0, context);
  return std::move(layers[Rbm::kVisible]);
}

double reconstruction_error(const Rbm& model, const State& rows, Key key, std::uint64_t step, const Context& context) {
  const State back = reconstruct(model, rows, key, step, context);
  std::uint64_t differing = 0;
  for (std::size_t w = 0; w < rows.bits().words().size(); ++w) {
    differing += static_cast<std::uint64_t>(std::popcount(rows.bits().words()[w] ^ back.bits().words()[w]));
  }
  return static_cast<double>(differing) / (static_cast<double>(rows.chains()) * static_cast<double>(rows.units()));
}

}  // namespace ergodic
