#include "ergodic/model/exact_boltzmann.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/model/all_states.hpp"
#include "ergodic/model/elimination.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kLowUnits = 12;       // whose patterns make a block
constexpr std::size_t kBlocksAtATime = 64;  // with one table of weights

bool is_on(std::size_t pattern, std::size_t unit) { return (pattern >> unit) & 1u; }

/// All states in blocks. A block has one pattern of the high units and walks through all patterns of the low ones, each
/// time changing one unit (Gray's code), whose field says by how much the energy changes. Each block starts with an
/// energy and fields summed anew, so rounding has 4096 steps to grow, not 2^24.
class StateWalk {
 public:
  explicit StateWalk(const Boltzmann& machine)
      : levels_(levels_of(machine.units())),
        units_(machine.graph().units()),
        low_(std::min(units_, kLowUnits)),
        couplings_(units_, units_),
        bias_(machine.bias().begin(), machine.bias().end()) {
    for (std::size_t i = 0; i < units_; ++i) {
      machine.graph().for_neighbours(i,
                                     [&](std::size_t j, std::size_t e) { couplings_(i, j) = machine.couplings()[e]; });
    }
  }

  std::size_t low_units() const { return low_; }
  std::size_t patterns() const { return std::size_t{1} << low_; }
  std::size_t blocks() const { return std::size_t{1} << (units_ - low_); }

  /// Calls f(pattern of the low units, -E) for each state of a block.
  template <class F>
  void walk(std::size_t block, const F& f) const {
    std::array<double, kMaxEnumeratedUnits> x, fields;
    for (std::size_t i = 0; i < units_; ++i) x[i] = is_on(block << low_, i) ? levels_.high : levels_.low;
    double log_weight = 0.0;
    for (std::size_t i = 0; i < units_; ++i) {
      double sum = 0.0;
      for (std::size_t j = 0; j < units_; ++j) sum += couplings_(i, j) * x[j];
      fields[i] = bias_[i] + sum;
      log_weight += x[i] * (bias_[i] + 0.5 * sum);
    }
    f(std::size_t{0}, log_weight);
    std::size_t pattern = 0;
    for (std::size_t s = 1; s < patterns(); ++s) {
      const auto k = static_cast<std::size_t>(std::countr_zero(s));
      const double change = is_on(pattern, k) ? -levels_.gap() : levels_.gap();
      log_weight += change * fields[k];
      for (std::size_t j = 0; j < low_; ++j) fields[j] += change * couplings_(k, j);
      pattern ^= std::size_t{1} << k;
      f(pattern, log_weight);
    }
  }

 private:
  Levels levels_;
  std::size_t units_, low_;
  Matrix<double> couplings_;
  std::vector<double> bias_;
};

/// How probable it is that units are high.
class HighUnits {
 public:
  HighUnits(const StateWalk& all, double log_z, const Context& context)
      : low_(all.low_units()), patterns_(all.patterns()), blocks_(all.blocks(), 1 + low_) {
    Matrix<double> tables((all.blocks() + kBlocksAtATime - 1) / kBlocksAtATime, all.patterns());
    context.for_blocks(all.blocks(), kBlocksAtATime, [&](std::size_t begin, std::size_t end) {
      const std::span<double> table = tables.row(begin / kBlocksAtATime);
      for (std::size_t b = begin; b < end; ++b) {
        const std::span<double> sums = blocks_.row(b);
        all.walk(b, [&](std::size_t pattern, double log_weight) {
          const double p = portable_exp(log_weight - log_z);
          table[pattern] += p;
          sums[0] += p;
          for (std::size_t i = 0; i < low_; ++i) sums[1 + i] += is_on(pattern, i) ? p : 0.0;
        });
      }
    });
    for (std::size_t t = 0; t < tables.rows(); ++t) {
      for (std::size_t s = 0; s < patterns_.size(); ++s) patterns_[s] += tables(t, s);
    }
  }

  /// The probability that both units are high; i and j in ascending order, or the same.
  double both(std::size_t i, std::size_t j) const {
    double sum = 0.0;
    if (j < low_) {
      for (std::size_t s = 0; s < patterns_.size(); ++s) sum += is_on(s, i) && is_on(s, j) ? patterns_[s] : 0.0;
      return sum;
    }
    for (std::size_t b = 0; b < blocks_.rows(); ++b) {
      if (!is_on(b, j - low_)) continue;
      if (i < low_) sum += blocks_(b, 1 + i);
      if (i >= low_ && is_on(b, i - low_)) sum += blocks_(b, 0);
    }
    return sum;
  }

 private:
  std::size_t low_;
  std::vector<double> patterns_;  // p of each pattern of the low units
  Matrix<double> blocks_;         // p of each block; then, of each low unit, that of both
};

/// All states of sites of letters in blocks, each with one letter of the first site. Letters are chosen site by site;
/// each choice adds its couplings to the fields of the sites that follow.
class LetterWalk {
 public:
  explicit LetterWalk(const Boltzmann& machine)
      : potts_{units_of(machine.units()), letters_of(machine.units())}, couplings_(potts_.units, potts_.units) {
    bias_.assign(machine.bias().begin(), machine.bias().end());
    for (std::size_t i = 0; i < potts_.units; ++i) {
      machine.graph().for_neighbours(i,
                                     [&](std::size_t j, std::size_t e) { couplings_(i, j) = machine.couplings()[e]; });
    }
  }

  std::size_t blocks() const { return potts_.letters; }

  /// Calls f(the unit that is on at each site, -E) for each state of a block.
  template <class F>
  void walk(std::size_t block, const F& f) const {
    std::vector<std::size_t> on(potts_.sites());
    Matrix<double> fields(potts_.sites(), potts_.units);  // a row for each site: given the letters before it
    std::copy(bias_.begin(), bias_.end(), fields.row(0).begin());
    choose(0, block, 0.0, on, fields, f);
  }

 private:
  template <class F>
  void choose(std::size_t site, std::size_t letter, double log_weight, std::vector<std::size_t>& on,
              Matrix<double>& fields, const F& f) const {
    const std::size_t unit = site * potts_.letters + letter, next = site + 1;
    on[site] = unit;
    log_weight += fields(site, unit);
    if (next == potts_.sites()) return f(on, log_weight);
    for (std::size_t j = next * potts_.letters; j < potts_.units; ++j) {
      fields(next, j) = fields(site, j) + couplings_(unit, j);
    }
    for (std::size_t a = 0; a < potts_.letters; ++a) choose(next, a, log_weight, on, fields, f);
  }

  Potts potts_;
  Matrix<double> couplings_;
  std::vector<double> bias_;
};

Statistics statistics_of_letters(const Boltzmann& machine, double log_z, const Context& context) {
  const LetterWalk all(machine);
  const Graph& graph = machine.graph();
  std::vector<Statistics> parts(all.blocks(), Statistics(machine.parameters().values().size()));
  context.for_blocks(all.blocks(), 1, [&](std::size_t b, std::size_t) {
    all.walk(b, [&](const std::vector<std::size_t>& on, double log_weight) {
      const double p = portable_exp(log_weight - log_z);
      for (std::size_t s = 0; s < on.size(); ++s) {
        parts[b][graph.edges() + on[s]] += p;
        const Graph::Later later = graph.later(on[s]);
        for (std::size_t t = s + 1; t < on.size(); ++t) {
          later.between(on[t], on[t] + 1, [&](std::size_t, std::size_t e) { parts[b][e] += p; });
        }
      }
    });
  });
  for (std::size_t b = 1; b < parts.size(); ++b) {
    for (std::size_t k = 0; k < parts[0].size(); ++k) parts[0][k] += parts[b][k];
  }
  return std::move(parts[0]);
}

}  // namespace

bool enumerable(const Boltzmann& machine) {
  return log2_states(machine.units()) <= static_cast<double>(kMaxEnumeratedUnits);
}

void require_exact_statistics(const Boltzmann& machine) {
  require(enumerable(machine),
          fmt::format("--method exact sums over all states: {} units at most, found {} {} units; take pcd or pseudo",
                      kMaxEnumeratedUnits, units_of(machine.units()), name_of(machine.units())));
}

Statistics exact_statistics(const Boltzmann& machine, const Context& context) {
  require_exact_statistics(machine);
  const std::optional<double> log_z = exact_log_z(machine, {context.threads});
  if (letters_of(machine.units()) > 0) return statistics_of_letters(machine, *log_z, context);
  const HighUnits high(StateWalk(machine), *log_z, context);
  const Graph& graph = machine.graph();
  const double low = levels_of(machine.units()).low, gap = levels_of(machine.units()).gap();
  Statistics out(machine.parameters().values().size());
  std::vector<double> p(graph.units());
  for (std::size_t i = 0; i < p.size(); ++i) {
    p[i] = high.both(i, i);
    out[graph.edges() + i] = low + gap * p[i];
  }
  for (std::size_t i = 0; i < p.size(); ++i) {
    graph.for_later_neighbours(i, [&](std::size_t j, std::size_t e) {
      out[e] = low * low + low * gap * (p[i] + p[j]) + gap * gap * high.both(i, j);
    });
  }
  return out;
}

}  // namespace ergodic
