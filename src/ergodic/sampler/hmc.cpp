#include "ergodic/sampler/hmc.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kChainsAtATime = 8;
constexpr double kTargetAcceptance = 0.8;
constexpr std::uint32_t kStepNumber = 1;

}  // namespace

LeapfrogPath::LeapfrogPath(const Hmc& kernel, const Layer& layer, State x, const Draw& draw, std::uint64_t first_chain)
    : x_(std::move(x)) {
  require_forces(layer, "hmc");
  free_ = free_units(kernel.fixed, layer);
  require(kernel.step > 0.0 && kernel.leapfrogs >= 1,
          fmt::format("Hamiltonian sampling needs a step larger than 0 and at least one of them, found {} steps of {}",
                      kernel.leapfrogs, kernel.step));
  lost_.assign(x_.chains(), 0);
  momenta_ = Matrix<double>(x_.chains(), free_.size());
  for (std::size_t r = 0; r < x_.chains(); ++r) {
    const auto chain = static_cast<std::uint32_t>(first_chain + r);
    steps_.push_back(kernel.step * (0.9 + 0.2 * draw.uniform(chain, kStepNumber)));
    for (std::size_t k = 0; k < free_.size(); ++k) momenta_(r, k) = draw.normal(chain, kFirstProposalNumber + free_[k]);
  }
}

std::vector<double> LeapfrogPath::kinetic_energies() const {
  std::vector<double> out(momenta_.rows());
  for (std::size_t r = 0; r < out.size(); ++r) {
    for (const double p : momenta_.row(r)) out[r] += 0.5 * p * p;
  }
  return out;
}

void LeapfrogPath::kick(double share, const Matrix<double>& forces) {
  for (std::size_t r = 0; r < momenta_.rows(); ++r) {
    for (std::size_t k = 0; k < free_.size() && !lost_[r]; ++k) {
      if (std::isnan(forces(r, free_[k])))
        throw NumericError(fmt::format("the force on unit {} of row {} is not a number", free_[k] + 1, r + 1));
      momenta_(r, k) += share * steps_[r] * forces(r, free_[k]);
    }
  }
}

void LeapfrogPath::drift(const Context& context) {
  context.for_blocks(x_.chains(), kChainsAtATime, [&](std::size_t begin, std::size_t end) {
    std::vector<float> moved(free_.size());
    for (std::size_t r = begin; r < end; ++r) {
      for (std::size_t k = 0; k < free_.size(); ++k) {
        moved[k] = static_cast<float>(x_.reals()(r, free_[k]) + steps_[r] * momenta_(r, k));
        if (!std::isfinite(moved[k])) lost_[r] = 1;
      }
      for (std::size_t k = 0; k < free_.size() && !lost_[r]; ++k) x_.reals()(r, free_[k]) = moved[k];
    }
  });
}

std::vector<double> kinetic_log_odds(const std::vector<double>& before, const LeapfrogPath& after) {
  const std::vector<double> kinetic = after.kinetic_energies();
  std::vector<double> out(before.size());
  for (std::size_t r = 0; r < out.size(); ++r) {
    // Momenta without end: as lost as a row that left the numbers.
    const bool lost = after.lost(r) || kinetic[r] == std::numeric_limits<double>::infinity();
    out[r] = lost ? -std::numeric_limits<double>::infinity() : before[r] - kinetic[r];
  }
  return out;
}

Hmc adapted(Hmc kernel, const StepInfo& info, std::uint64_t k) {
  kernel.step = adapted_step(kernel.step, info.accepted, kTargetAcceptance, k);
  return kernel;
}

}  // namespace ergodic
