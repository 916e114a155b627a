// What samplers that propose have in common: the units that may change, the decision, and how large a step should be.
//
// A proposal x' is taken with probability min(1, e^a), a = E(x) - E(x') + log q(x | x') / q(x' | x) (Metropolis and
// others 1953; Hastings 1970). A proposal of infinite energy is always rejected; NaN is an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ergodic/core/bits.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/layer.hpp"

namespace ergodic {

/// The indices of a chain's random numbers for one proposal.
inline constexpr std::uint32_t kAcceptanceNumber = 0;     ///< decides
inline constexpr std::uint32_t kFirstProposalNumber = 2;  ///< those that propose; 1 is each sampler's own

/// The sites that may change: those whose bits in a mask of one row are not set. All, if the mask is empty. UsageError
/// if the mask does not fit, or leaves nothing.
std::vector<Site> free_sites(const Bits& fixed, const Layer& layer);
/// The units of them, if each site is one unit.
std::vector<std::uint32_t> free_units(const Bits& fixed, const Layer& layer);

struct Proposal {
  State x;
  std::vector<double> energies;
  std::vector<double> log_odds = {};  ///< log q(x | x') / q(x' | x) of each chain; empty: both ways are as likely
};

/// Puts the rows of a proposal that are accepted in place of those of x, with their energies. Returns how many.
std::size_t accept(const Proposal& proposal, const Draw& draw, std::uint64_t first_chain, State& x,
                   std::vector<double>& own);

/// The size of steps after a sweep of warm-up, the k-th, counted from 0: smaller if less was accepted than wanted
/// (Robbins and Monro 1951). Not to be used on draws that count, since what adapts to its past is no Markov chain.
double adapted_step(double step, double accepted, double wanted, std::uint64_t k);

}  // namespace ergodic
