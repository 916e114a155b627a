#include "ergodic/sampler/metropolis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kChainsAtATime = 8;
constexpr std::uint32_t kCountNumber = 1;  // says how many sites change
constexpr double kTargetAcceptance = 0.3;  // between what is best for one real unit, 0.44, and for very many, 0.234

/// Gives a site another letter, each with the same probability.
void change_letter(Bits& bits, std::size_t row, const Site& site, double uniform) {
  std::size_t old = 0;
  while (!bits.get(row, site.first + old)) ++old;
  const auto by = 1 + static_cast<std::size_t>(uniform * static_cast<double>(site.size - 1));
  bits.set(row, site.first + old, false);
  bits.set(row, site.first + (old + by) % site.size, true);
}

}  // namespace

Proposer::Proposer(const Metropolis& kernel, const Layer& layer)
    : noise_(kernel.noise),
      scales_(kernel.scales),
      flips_(kernel.flips),
      positive_(data_values(layer) == UnitValues::kNonnegativeReals),
      free_(free_sites(kernel.fixed, layer)) {
  require(flips_ >= 1 && (noise_ > 0.0 || !real_valued(layer)), "a proposal must change something");
  require(real_valued(layer) || flips_ <= free_.size(),
          fmt::format("a proposal can change at most the {} sites that are free, found {}", free_.size(), flips_));
  require(scales_.empty() || scales_.size() == units_of(layer),
          fmt::format("noise has a scale for each of {} units, found {}", units_of(layer), scales_.size()));
  const std::size_t usual = real_valued(layer) ? 1 : (free_.size() + flips_ - 1) / flips_;
  proposals_ = kernel.proposals > 0 ? kernel.proposals : usual;
}

State Proposer::propose(const State& x, const Draw& draw, std::uint64_t first_chain, const Context& context) const {
  State out = x;
  context.for_blocks(x.chains(), kChainsAtATime, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      const auto chain = static_cast<std::uint32_t>(first_chain + r);
      if (x.real()) {
        for (const Site& site : free_) {
          const auto unit = static_cast<std::uint32_t>(site.first);
          float& value = out.reals()(r, unit);
          const double noise = scales_.empty() ? noise_ : noise_ * scales_[unit];
          value += static_cast<float>(noise * draw.normal(chain, kFirstProposalNumber + unit));
          if (positive_) value = std::abs(value);
        }
        continue;
      }
      // Always the same number would keep apart the states with an even and with an odd number of changes.
      const std::uint64_t changes = 1 + draw.below(flips_, chain, kCountNumber);
      for (std::uint32_t f = 0; f < changes; ++f) {
        const Site& site = free_[draw.below(free_.size(), chain, kFirstProposalNumber + 2 * f)];
        if (site.size > 1) {
          change_letter(out.bits(), r, site, draw.uniform(chain, kFirstProposalNumber + 2 * f + 1));
        } else {
          out.bits().set(r, site.first, !out.bits().get(r, site.first));
        }
      }
    }
  });
  return out;
}

Metropolis adapted(Metropolis kernel, const StepInfo& info, std::uint64_t k) {
  kernel.noise = adapted_step(kernel.noise, info.accepted, kTargetAcceptance, k);
  return kernel;
}

}  // namespace ergodic
