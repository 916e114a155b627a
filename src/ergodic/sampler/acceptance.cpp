#include "ergodic/sampler/acceptance.hpp"

#include <fmt/format.h>

#include <cmath>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"

namespace ergodic {

std::vector<Site> free_sites(const Bits& fixed, const Layer& layer) {
  const bool masked = fixed.rows() > 0;
  if (masked) require_mask(layer, fixed, 1);
  std::vector<Site> out = sites(layer);
  if (masked) std::erase_if(out, [&](const Site& site) { return fixed.get(0, site.first); });
  require(!out.empty(), "sampling needs a unit that may change; all are fixed");
  return out;
}

std::vector<std::uint32_t> free_units(const Bits& fixed, const Layer& layer) {
  std::vector<std::uint32_t> out;
  for (const Site& site : free_sites(fixed, layer)) out.push_back(static_cast<std::uint32_t>(site.first));
  return out;
}

std::size_t accept(const Proposal& proposal, const Draw& draw, std::uint64_t first_chain, State& x,
                   std::vector<double>& own) {
  std::size_t accepted = 0;
  for (std::size_t r = 0; r < x.chains(); ++r) {
    const double there = proposal.energies[r];
    const double odds = proposal.log_odds.empty() ? 0.0 : proposal.log_odds[r];
    if (std::isnan(own[r]) || std::isnan(there))
      throw NumericError(fmt::format("the energy of chain {} is not a number", first_chain + r));
    if (std::isnan(odds)) throw NumericError(fmt::format("the forces on chain {} are not numbers", first_chain + r));
    const double log_ratio = (there == own[r] ? 0.0 : own[r] - there) + odds;
    const double u = draw.uniform(static_cast<std::uint32_t>(first_chain + r), kAcceptanceNumber);
    if (!(log_ratio >= 0.0 || u < portable_exp(log_ratio))) continue;
    own[r] = there;
    ++accepted;
    x.set_row(r, proposal.x, r);
  }
  return accepted;
}

double adapted_step(double step, double accepted, double wanted, std::uint64_t k) {
  const double gain = 1.0 / std::sqrt(static_cast<double>(k + 1));
  return step * portable_exp(gain * (accepted - wanted));
}

}  // namespace ergodic
