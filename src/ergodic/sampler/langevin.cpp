#include "ergodic/sampler/langevin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kChainsAtATime = 8;
constexpr double kTargetAcceptance = 0.57;

}  // namespace

LangevinProposer::LangevinProposer(const Langevin& kernel, const Layer& layer) : step_(kernel.step) {
  require_forces(layer, "langevin");
  free_ = free_units(kernel.fixed, layer);
  require(step_ > 0.0, fmt::format("a Langevin step must be larger than 0, found {}", step_));
}

State LangevinProposer::propose(const State& x, const Matrix<double>& forces, const Draw& draw,
                                std::uint64_t first_chain, const Context& context) {
  State out = x;
  lost_.assign(x.chains(), 0);
  context.for_blocks(x.chains(), kChainsAtATime, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      const auto chain = static_cast<std::uint32_t>(first_chain + r);
      for (const std::uint32_t unit : free_) {
        const double z = draw.normal(chain, kFirstProposalNumber + unit);
        float& value = out.reals()(r, unit);
        value = static_cast<float>(value + 0.5 * step_ * step_ * forces(r, unit) + step_ * z);
        if (!std::isfinite(value)) lost_[r] = 1;
      }
      if (lost_[r]) out.set_row(r, x, r);
    }
  });
  return out;
}

std::vector<double> LangevinProposer::log_odds(const State& x, const Matrix<double>& forces, const State& proposed,
                                               const Matrix<double>& forces_there) const {
  std::vector<double> out(x.chains());
  for (std::size_t r = 0; r < out.size(); ++r) {
    double there = 0.0, back = 0.0;  // squares of the noise, in units of the step
    for (const std::uint32_t unit : free_) {
      const double way = double{proposed.reals()(r, unit)} - x.reals()(r, unit);
      const double noise_there = way / step_ - 0.5 * step_ * forces(r, unit);
      const double noise_back = -way / step_ - 0.5 * step_ * forces_there(r, unit);
      there += noise_there * noise_there;
      back += noise_back * noise_back;
    }
    // Forces without end there: no way back.
    out[r] = lost_[r] || back == std::numeric_limits<double>::infinity() ? -std::numeric_limits<double>::infinity()
                                                                         : 0.5 * (there - back);
  }
  return out;
}

void LangevinProposer::require_none_lost() const {
  const auto first = std::ranges::find(lost_, 1);
  if (first == lost_.end()) return;
  throw NumericError(
      fmt::format("a Langevin step of {} led chain {} to values that are not finite; take a smaller step, "
                  "or the adjusted sampler (mala)",
                  step_, first - lost_.begin()));
}

Langevin adapted(Langevin kernel, const StepInfo& info, std::uint64_t k) {
  if (kernel.adjusted) kernel.step = adapted_step(kernel.step, info.accepted, kTargetAcceptance, k);
  return kernel;
}

}  // namespace ergodic
