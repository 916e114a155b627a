// Pairwise Potts machine (Potts 1952): sites with one of several letters each, coupled along a graph of their units,
//   E(x) = -sum over edges {i, j} of w_ij x_i x_j - b'x,   where one unit of each site is 1 and the others are 0.
// So a field is a sum over sites, not over units: I_i = b_i + sum over other sites of w_ij, j being the unit that is on
// there. Given all others, a site has its letter i with probability e^I_i / (the sum over its letters).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/kernels/state.hpp"
#include "ergodic/model/graph.hpp"
#include "ergodic/model/layer.hpp"
#include "ergodic/model/parameters.hpp"

namespace ergodic {

/// Which sites are neighbours, if units are. UsageError for an edge between two units of one site.
Graph graph_of_sites(const Graph& graph, std::size_t letters);

/// The couplings of a dense graph, a row for each site: of unit j with letter a of the site at j * letters + a. Those
/// that a draw needs lie side by side.
void fill_site_rows(const Graph& graph, std::span<const float> couplings, std::size_t letters, Matrix<float>& out,
                    const Context& context);

/// What the fields of all sites are made of, and what follows from them.
struct SiteFields {
  Potts units;
  const Graph& graph;                ///< of the units
  const Graph& sites;                ///< of the sites
  std::span<const float> couplings;  ///< [edges]
  std::span<const float> bias;       ///< [units]
  const Matrix<float>& site_rows;    ///< of a dense graph; else without rows

  /// The fields of the letters of a site, given the unit that is on at each of the others.
  void of(std::size_t site, std::span<const std::uint32_t> on, std::span<double> out) const;

  std::vector<double> energy(const State& x, const Context& context) const;
  /// Calls f(row, log p(x_s | all others) of each site s) for all rows of x; several threads do.
  void for_site_logs(const State& x, const Context& context,
                     const std::function<void(std::size_t, std::span<const double>)>& f) const;
  void add_statistics(const State& x, std::span<const double> row_weights, Statistics& out,
                      const Context& context) const;
  void add_pseudo_statistics(const State& x, std::span<const double> row_weights, Statistics& out,
                             const Context& context) const;

  /// Draws the sites one after the other, each given all others, but for those that are fixed. Row r draws the random
  /// numbers of chain first_chain + r.
  void sweep(State& x, FixedUnits fixed, const Draw& draw, std::uint64_t first_chain, const Context& context) const;
};

}  // namespace ergodic
