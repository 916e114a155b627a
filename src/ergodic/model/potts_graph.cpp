#include "ergodic/model/potts_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/kernels/fields.hpp"
#include "ergodic/kernels/letters.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kChainsAtATime = 256;  // which share the couplings of a site while these are in the cache
constexpr std::size_t kRowsAtATime = 8;      // of states, for one thread
constexpr std::size_t kUnitsAtATime = 32;    // of statistics
constexpr std::size_t kRowsAtOnce = 256;     // whose conditional means are held

/// The unit that is on at each site.
void find_on(const State& x, std::size_t row, std::span<std::uint32_t> out) {
  std::size_t found = 0;
  for_each_set(x.bits().row(row), [&](std::size_t unit) {
    assert(found < out.size());
    out[found++] = static_cast<std::uint32_t>(unit);
  });
  assert(found == out.size());
}

/// The units that are on in rows [begin, end), one for each site.
Matrix<std::uint32_t> units_on(const State& x, std::size_t begin, std::size_t end, std::size_t sites) {
  Matrix<std::uint32_t> out(end - begin, sites);
  for (std::size_t r = begin; r < end; ++r) find_on(x, r, out.row(r - begin));
  return out;
}

/// Calls f(row, the unit that is on at each site) for all rows of x; several threads do.
template <class F>
void for_rows(const State& x, std::size_t sites, const Context& context, const F& f) {
  context.for_blocks(x.chains(), kRowsAtATime, [&](std::size_t begin, std::size_t end) {
    const Matrix<std::uint32_t> on = units_on(x, begin, end, sites);
    for (std::size_t r = begin; r < end; ++r) f(r, on.row(r - begin));
  });
}

double weight_of(std::span<const double> row_weights, std::size_t row) {
  return row_weights.size() == 1 ? row_weights[0] : row_weights[row];
}

}  // namespace

Graph graph_of_sites(const Graph& graph, std::size_t letters) {
  const std::size_t count = graph.units() / letters;
  const std::size_t group = graph.site_units();
  if (group > 0 && group % letters == 0) return Graph(count, group / letters);
  std::vector<Graph::Pair> pairs;
  std::vector<std::uint32_t> later;
  for (std::size_t site = 0; site < count; ++site) {
    later.clear();
    for (std::size_t unit = site * letters; unit < (site + 1) * letters; ++unit) {
      graph.for_later_neighbours(unit, [&](std::size_t other, std::size_t) {
        require(other / letters != site,
                fmt::format("an edge joins units {} and {}, two letters of site {}: a site has one letter at a time; "
                            "expected edges between different sites of {} units",
                            unit, other, site, letters));
        later.push_back(static_cast<std::uint32_t>(other / letters));
      });
    }
    std::sort(later.begin(), later.end());
    later.erase(std::unique(later.begin(), later.end()), later.end());
    for (const std::uint32_t other : later) pairs.push_back({static_cast<std::uint32_t>(site), other});
  }
  return Graph(count, pairs);
}

void fill_site_rows(const Graph& graph, std::span<const float> couplings, std::size_t letters, Matrix<float>& out,
                    const Context& context) {
  context.for_blocks(out.rows(), 1, [&](std::size_t site, std::size_t) {
    const std::span<float> row = out.row(site);
    for (std::size_t a = 0; a < letters; ++a) {
      graph.for_neighbours(site * letters + a,
                           [&](std::size_t j, std::size_t e) { row[j * letters + a] = couplings[e]; });
    }
  });
}

void SiteFields::of(std::size_t site, std::span<const std::uint32_t> on, std::span<double> out) const {
  const std::size_t letters = units.letters, first = site * letters;
  for (std::size_t a = 0; a < letters; ++a) out[a] = bias[first + a];
  if (site_rows.rows() > 0) {
    // Zeros for its own letter and for units that are no neighbours.
    return add_rows({site_rows.row(site).data(), units.units, letters}, on, out);
  }
  sites.for_neighbours(site, [&](std::size_t other, std::size_t) {
    const std::size_t unit = on[other];
    if (other < site) {
      graph.later(unit).between(first, first + letters,
                                [&](std::size_t j, std::size_t e) { out[j - first] += double{couplings[e]}; });
    } else {
      for (std::size_t a = 0; a < letters; ++a) {
        graph.later(first + a).between(unit, unit + 1,
                                       [&](std::size_t, std::size_t e) { out[a] += double{couplings[e]}; });
      }
    }
  });
}

std::vector<double> SiteFields::energy(const State& x, const Context& context) const {
  std::vector<double> out(x.chains());
  for_rows(x, units.sites(), context, [&](std::size_t r, std::span<const std::uint32_t> on) {
    double energy = 0.0;
    for (std::size_t s = 0; s < on.size(); ++s) {
      double field = bias[on[s]];  // of the bias and the later sites: each edge counts once
      const Graph::Later later = graph.later(on[s]);
      sites.for_later_neighbours(s, [&](std::size_t t, std::size_t) {
        later.between(on[t], on[t] + 1u, [&](std::size_t, std::size_t e) { field += double{couplings[e]}; });
      });
      energy -= field;
    }
    out[r] = energy;
  });
  return out;
}

void SiteFields::for_site_logs(const State& x, const Context& context,
                               const std::function<void(std::size_t, std::span<const double>)>& f) const {
  for_rows(x, units.sites(), context, [&](std::size_t r, std::span<const std::uint32_t> on) {
    std::vector<double> fields(units.letters), storage, logs(on.size());
    for (std::size_t s = 0; s < on.size(); ++s) {
      of(s, on, fields);
      const LetterWeights letters(fields, storage);
      logs[s] = fields[on[s] % units.letters] - letters.largest - portable_log(letters.total);
    }
    f(r, logs);
  });
}

void SiteFields::add_statistics(const State& x, std::span<const double> row_weights, Statistics& out,
                                const Context& context) const {
  const std::span<double> pairs = std::span(out).first(graph.edges()), means = std::span(out).subspan(pairs.size());
  const Matrix<std::uint32_t> on = units_on(x, 0, x.chains(), units.sites());
  // A thread owns the edges from its sites to later ones, and goes through all rows in order: no sum is split.
  context.for_blocks(units.sites(), 1, [&](std::size_t s, std::size_t) {
    for (std::size_t r = 0; r < x.chains(); ++r) {
      const std::span<const std::uint32_t> row = on.row(r);
      const double weight = weight_of(row_weights, r);
      means[row[s]] += weight;
      const Graph::Later later = graph.later(row[s]);
      sites.for_later_neighbours(s, [&](std::size_t t, std::size_t) {
        later.between(row[t], row[t] + 1u, [&](std::size_t, std::size_t e) { pairs[e] += weight; });
      });
    }
  });
}

void SiteFields::add_pseudo_statistics(const State& x, std::span<const double> row_weights, Statistics& out,
                                       const Context& context) const {
  const std::span<double> pairs = std::span(out).first(graph.edges()), means = std::span(out).subspan(pairs.size());
  const std::size_t letters = units.letters;
  for (std::size_t first = 0; first < x.chains(); first += kRowsAtOnce) {
    const std::size_t rows = std::min(kRowsAtOnce, x.chains() - first);
    const Matrix<std::uint32_t> on = units_on(x, first, first + rows, units.sites());
    Matrix<double> misses(rows, units.units);  // weight * (x - E[x | all other sites])
    context.for_blocks(rows, kRowsAtATime, [&](std::size_t begin, std::size_t end) {
      std::vector<double> fields(letters), storage;
      for (std::size_t r = begin; r < end; ++r) {
        const double weight = weight_of(row_weights, first + r);
        for (std::size_t s = 0; s < units.sites(); ++s) {
          of(s, on.row(r), fields);
          const LetterWeights site(fields, storage);
          const std::span<double> to = misses.row(r).subspan(s * letters, letters);
          for (std::size_t a = 0; a < letters; ++a) to[a] = -weight * (site.weights[a] / site.total);
          misses(r, on(r, s)) += weight;
        }
      }
    });
    context.for_blocks(units.units, kUnitsAtATime, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const Graph::Later later = graph.later(i);
        for (std::size_t r = 0; r < rows; ++r) {
          const std::span<const double> row = std::as_const(misses).row(r);
          const double own = row[i];
          const bool here = on(r, i / letters) == i;
          means[i] += own;
          sites.for_later_neighbours(i / letters, [&](std::size_t t, std::size_t) {
            const std::size_t other = on(r, t);
            later.between(other, other + 1, [&](std::size_t, std::size_t e) { pairs[e] += own; });
            if (!here) return;
            later.between(t * letters, (t + 1) * letters, [&](std::size_t j, std::size_t e) { pairs[e] += row[j]; });
          });
        }
      }
    });
  }
}

void SiteFields::sweep(State& x, FixedUnits fixed, const Draw& draw, std::uint64_t first_chain,
                       const Context& context) const {
  context.for_blocks(x.chains(), kChainsAtATime, [&](std::size_t begin, std::size_t end) {
    Matrix<std::uint32_t> on = units_on(x, begin, end, units.sites());
    std::vector<double> fields(units.letters), storage;
    for (std::size_t s = 0; s < units.sites(); ++s) {
      const std::size_t first = s * units.letters;
      for (std::size_t r = begin; r < end; ++r) {
        if (fixed.at(r, first)) continue;
        of(s, std::as_const(on).row(r - begin), fields);
        const double uniform = draw.uniform(static_cast<std::uint32_t>(first_chain + r), static_cast<std::uint32_t>(s));
        const std::size_t letter = LetterWeights(fields, storage).drawn(uniform);
        on(r - begin, s) = static_cast<std::uint32_t>(first + letter);
      }
    }
    for (std::size_t r = begin; r < end; ++r) {
      const std::span<std::uint64_t> bits = x.bits().row(r);
      std::fill(bits.begin(), bits.end(), 0);
      for (const std::uint32_t unit : std::as_const(on).row(r - begin)) x.bits().set(r, unit, true);
    }
  });
}

}  // namespace ergodic
