#include "ergodic/sampler/metropolis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kChainsAtATime = 8;
constexpr std::uint32_t kAcceptance = 0;     // the number that decides
constexpr std::uint32_t kCount = 1;          // the one that says how many sites change
constexpr std::uint32_t kFirstProposal = 2;  // those that propose come after it
constexpr double kTargetAcceptance = 0.3;    // between what is best for one real unit, 0.44, and for very many, 0.234

/// Gives a site another letter, each with the same probability.
void change_letter(Bits& bits, std::size_t row, std::size_t first, std::size_t letters, double uniform) {
  std::size_t old = 0;
  while (!bits.get(row, first + old)) ++old;
  const auto by = 1 + static_cast<std::size_t>(uniform * static_cast<double>(letters - 1));
  bits.set(row, first + old, false);
  bits.set(row, first + (old + by) % letters, true);
}

}  // namespace

Proposer::Proposer(const Metropolis& kernel, const Layer& layer)
    : noise_(kernel.noise), flips_(kernel.flips), letters_(letters_of(layer)) {
  const bool masked = kernel.fixed.rows() > 0;
  require(!masked || (kernel.fixed.rows() == 1 && kernel.fixed.cols() == units_of(layer)),
          fmt::format("which units stay is one row of {} bits, found {} rows of {}", units_of(layer),
                      kernel.fixed.rows(), kernel.fixed.cols()));
  for (std::uint32_t site = 0; site < sites_of(layer); ++site) {
    if (!masked || !kernel.fixed.get(0, site * std::max<std::size_t>(letters_, 1))) free_.push_back(site);
  }
  require(!free_.empty(), "Metropolis sampling needs a unit that may change; all are fixed");
  require(flips_ >= 1 && (noise_ > 0.0 || !real_valued(layer)), "a proposal must change something");
  require(real_valued(layer) || flips_ <= free_.size(),
          fmt::format("a proposal can change at most the {} sites that are free, found {}", free_.size(), flips_));
  const std::size_t usual = real_valued(layer) ? 1 : (free_.size() + flips_ - 1) / flips_;
  proposals_ = kernel.proposals > 0 ? kernel.proposals : usual;
}

State Proposer::propose(const State& x, const Draw& draw, std::uint64_t first_chain, const Context& context) const {
  State out = x;
  context.for_blocks(x.chains(), kChainsAtATime, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      const auto chain = static_cast<std::uint32_t>(first_chain + r);
      if (x.real()) {
        for (const std::uint32_t unit : free_) {
          out.reals()(r, unit) += static_cast<float>(noise_ * draw.normal(chain, kFirstProposal + unit));
        }
        continue;
      }
      // Always the same number would keep apart the states with an even and with an odd number of changes.
      const std::uint64_t changes = 1 + draw.below(flips_, chain, kCount);
      for (std::uint32_t f = 0; f < changes; ++f) {
        const std::size_t site = free_[draw.below(free_.size(), chain, kFirstProposal + 2 * f)];
        if (letters_ > 0) {
          change_letter(out.bits(), r, site * letters_, letters_, draw.uniform(chain, kFirstProposal + 2 * f + 1));
        } else {
          out.bits().set(r, site, !out.bits().get(r, site));
        }
      }
    }
  });
  return out;
}

std::size_t Proposer::decide(const State& proposed, const std::vector<double>& energies, const Draw& draw,
                             std::uint64_t first_chain, State& x, std::vector<double>& own) const {
  std::size_t accepted = 0;
  for (std::size_t r = 0; r < x.chains(); ++r) {
    if (std::isnan(energies[r]))
      throw NumericError(fmt::format("the energy that chain {} proposes is not a number", r));
    const double u = draw.uniform(static_cast<std::uint32_t>(first_chain + r), kAcceptance);
    if (!(energies[r] <= own[r] || u < portable_exp(own[r] - energies[r]))) continue;
    own[r] = energies[r];
    ++accepted;
    if (x.real()) {
      std::ranges::copy(proposed.reals().row(r), x.reals().row(r).begin());
    } else {
      std::ranges::copy(proposed.bits().row(r), x.bits().row(r).begin());
    }
  }
  return accepted;
}

Metropolis adapted(Metropolis kernel, const StepInfo& info, std::uint64_t k) {
  const double gain = 1.0 / std::sqrt(static_cast<double>(k + 1));
  kernel.noise *= portable_exp(gain * (info.accepted - kTargetAcceptance));
  return kernel;
}

}  // namespace ergodic
