#include "ergodic/sampler/acceptance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"

namespace ergodic {

std::vector<std::uint32_t> free_sites(const Bits& fixed, const Layer& layer) {
  const bool masked = fixed.rows() > 0;
  if (masked) require_mask(layer, fixed, 1);
  const std::size_t units_of_site = std::max<std::size_t>(letters_of(layer), 1);
  std::vector<std::uint32_t> out;
  for (std::uint32_t site = 0; site < sites_of(layer); ++site) {
    if (!masked || !fixed.get(0, site * units_of_site)) out.push_back(site);
  }
  require(!out.empty(), "sampling needs a unit that may change; all are fixed");
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
