#include "ergodic/model/elimination.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/model/elimination_plan.hpp"
#include "ergodic/model/hidden_given_visible.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kLowPatterns = 1024;     // of the first sites of a scope, at most
constexpr std::size_t kEntriesAtATime = 4096;  // of tables, for one thread

constexpr EliminationLimits kLimits{};
constexpr EliminationLimits kHiddenLimits{0x1p20, 0x1p20};  // for each row of visible units
constexpr double kMostRowsAtATime = 64.0;
constexpr double kEntriesOfRows = 0x1p22;  // of the tables of that many rows

/// What adds up over the sites of a scope, for all their patterns. They are held in two parts, of the first sites and
/// of the others: pattern p has low[p % low.size()] + high[p / low.size()].
template <class T>
struct PatternSums {
  std::vector<T> low, high;

  /// Sums of what each value of each site adds.
  PatternSums(std::span<const std::vector<T>> sites, std::size_t low_sites)
      : low(sums(sites.first(low_sites))), high(sums(sites.subspan(low_sites))) {}

 private:
  static std::vector<T> sums(std::span<const std::vector<T>> sites) {
    std::vector<T> out(1);
    for (const std::vector<T>& site : sites) {
      const std::size_t before = out.size();
      out.resize(before * site.size());
      for (std::size_t value = site.size(); value-- > 0;) {
        for (std::size_t p = 0; p < before; ++p) out[value * before + p] = out[p] + site[value];
      }
    }
    return out;
  }
};

/// A table that a sum reads: where in it each pattern of the scope is, and how far from there the values of the site.
struct Input {
  std::uint32_t table;
  PatternSums<std::size_t> places;
  std::size_t stride;
};

using Tables = std::vector<Matrix<double>>;  // of each step: a row for each row of fields, while it is needed

double coupling(const Boltzmann& machine, std::size_t a, std::size_t b) {
  double out = 0.0;
  const auto found = [&](std::size_t, std::size_t e) { out = machine.couplings()[e]; };
  machine.graph().later(std::min(a, b)).between(std::max(a, b), std::max(a, b) + 1, found);
  return out;
}

/// The sum over one site.
class SiteSum {
 public:
  SiteSum(const EliminationPlan& plan, std::size_t step, std::span<const std::uint32_t> inputs,
          const Boltzmann& machine)
      : step_(plan.steps[step]), letters_(letters_of(machine.units())), levels_(levels_of(machine.units())) {
    std::size_t low_sites = 0;
    for (std::size_t low = values(); low_sites < step_.scope.size() && low <= kLowPatterns; low *= values()) {
      ++low_sites;
    }
    for (std::size_t value = 0; value < values(); ++value) {
      std::vector<std::vector<double>> by_site;
      for (const std::uint32_t other : step_.scope) {
        by_site.push_back(pair_weights(machine, plan.first + step_.site, value, plan.first + other));
      }
      couplings_.emplace_back(by_site, low_sites);
    }
    for (const std::uint32_t from : inputs) inputs_.push_back(input(plan, from, low_sites));
  }

  std::size_t low() const { return couplings_[0].low.size(); }
  std::size_t high() const { return couplings_[0].high.size(); }
  std::size_t entries() const { return low() * high(); }

  /// The entries of one high pattern for one row of fields. `terms` is room for all values of all low patterns.
  void run(std::size_t row, std::size_t high, std::span<const double> fields, const Tables& tables,
           std::span<double> terms, std::span<double> out) const {
    for (std::size_t value = 0; value < values(); ++value) {
      const std::span<double> to = terms.subspan(value * low(), low());
      const double same = field(fields, value) + couplings_[value].high[high];
      for (std::size_t p = 0; p < to.size(); ++p) to[p] = same + couplings_[value].low[p];
      for (const Input& input : inputs_) {
        const double* from = tables[input.table].row(row).data() + input.places.high[high] + value * input.stride;
        for (std::size_t p = 0; p < to.size(); ++p) to[p] += from[input.places.low[p]];
      }
    }
    for (std::size_t p = 0; p < low(); ++p) out[p] = log_sum(terms, p);
  }

  std::size_t values() const { return letters_ > 0 ? letters_ : 2; }

 private:
  double level(std::size_t value) const { return value == 0 ? levels_.low : levels_.high; }

  double field(std::span<const double> fields, std::size_t value) const {
    return letters_ > 0 ? fields[step_.site * letters_ + value] : level(value) * fields[step_.site];
  }

  /// What the values of another site add, given that of this one.
  std::vector<double> pair_weights(const Boltzmann& machine, std::size_t site, std::size_t value,
                                   std::size_t other) const {
    std::vector<double> out(values());
    const double w = letters_ > 0 ? 0.0 : coupling(machine, site, other);
    for (std::size_t b = 0; b < out.size(); ++b) {
      out[b] =
          letters_ > 0 ? coupling(machine, site * letters_ + value, other * letters_ + b) : w * level(value) * level(b);
    }
    return out;
  }

  /// This site is the last of the table's scope; the others are of this scope too, in the same order.
  Input input(const EliminationPlan& plan, std::uint32_t from, std::size_t low_sites) const {
    const std::vector<std::uint32_t>& known = plan.steps[from].scope;
    assert(known.back() == step_.site);
    std::vector<std::vector<std::size_t>> by_site;
    std::size_t stride = 1, next = 0;
    for (const std::uint32_t other : step_.scope) {
      by_site.emplace_back(values());
      if (known[next] != other) continue;
      for (std::size_t b = 0; b < values(); ++b) by_site.back()[b] = b * stride;
      stride *= values();
      ++next;
    }
    return {from, {by_site, low_sites}, stride};
  }

  double log_sum(std::span<const double> terms, std::size_t p) const {
    if (values() == 2) return log_add(terms[p], terms[low() + p]);
    double largest = terms[p], sum = 0.0;
    for (std::size_t v = 1; v < values(); ++v) largest = std::max(largest, terms[v * low() + p]);
    for (std::size_t v = 0; v < values(); ++v) sum += portable_exp(terms[v * low() + p] - largest);
    return largest + portable_log(sum);
  }

  const EliminationStep& step_;
  std::size_t letters_;
  Levels levels_;
  std::vector<PatternSums<double>> couplings_;  // for each value of the site
  std::vector<Input> inputs_;
};

/// The table of a sum for all rows of fields.
Matrix<double> table_of(const SiteSum& sum, MatrixView<const double> fields, const Tables& tables,
                        const Context& context) {
  Matrix<double> out(fields.rows(), sum.entries());
  const std::size_t at_a_time = std::max<std::size_t>(1, kEntriesAtATime / sum.low());
  context.for_blocks(fields.rows() * sum.high(), at_a_time, [&](std::size_t begin, std::size_t end) {
    std::vector<double> terms(sum.values() * sum.low());
    for (std::size_t k = begin; k < end; ++k) {
      const std::size_t row = k / sum.high(), high = k % sum.high();
      sum.run(row, high, fields.row(row), tables, terms, out.row(row).subspan(high * sum.low(), sum.low()));
    }
  });
  return out;
}

/// The log of the sum over all states of the sites of a plan of e^(their couplings with each other + their fields), for
/// each row of fields, one for each of their units; nothing if stopped.
std::optional<std::vector<double>> log_sums(const EliminationPlan& plan, const Boltzmann& machine,
                                            MatrixView<const double> fields, const Context& context) {
  assert(!plan.too_wide && fields.cols() + plan.first * std::max<std::size_t>(letters_of(machine.units()), 1) ==
                               units_of(machine.units()));
  std::vector<double> out(fields.rows());
  std::vector<std::vector<std::uint32_t>> inputs(plan.steps.size());
  Tables tables(plan.steps.size());
  double terms = 0.0;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    if (context.stop_requested()) return std::nullopt;
    const SiteSum sum(plan, s, inputs[s], machine);
    tables[s] = table_of(sum, fields, tables, context);
    for (const std::uint32_t read : inputs[s]) tables[read] = {};
    if (const std::uint32_t next = plan.steps[s].next; next != EliminationStep::kNone) {
      inputs[next].push_back(static_cast<std::uint32_t>(s));
    } else {
      for (std::size_t row = 0; row < out.size(); ++row) out[row] += tables[s](row, 0);
      tables[s] = {};
    }
    terms += static_cast<double>(sum.values() * sum.entries());
    context.progress({static_cast<std::uint64_t>(terms), static_cast<std::uint64_t>(plan.terms)});
  }
  return out;
}

/// A plan for the sites of a machine from this unit on.
EliminationPlan plan_of(const Boltzmann& machine, std::size_t first, const EliminationLimits& limits) {
  const std::size_t letters = letters_of(machine.units());
  if (letters == 0) return plan_elimination(machine.graph(), first, 2, limits);
  return plan_elimination(graph_of_sites(machine.graph(), letters), first / letters, letters, limits);
}

std::size_t rows_at_a_time(const EliminationPlan& plan) {
  return static_cast<std::size_t>(std::clamp(kEntriesOfRows / plan.entries, 1.0, kMostRowsAtATime));
}

}  // namespace

std::string why_no_exact_log_z(const Boltzmann& machine) {
  const EliminationPlan plan = plan_of(machine, 0, kLimits);
  return plan.too_wide ? plan.complaint(kLimits) : "";
}

double exact_log_z_bits(const Boltzmann& machine) {
  const EliminationPlan plan = plan_of(machine, 0, kLimits);
  return plan.too_wide ? std::numeric_limits<double>::infinity() : std::log2(plan.terms);
}

std::string why_no_exact_free_energy(const Boltzmann& machine) {
  const EliminationPlan plan = plan_of(machine, machine.visible(), kHiddenLimits);
  return plan.too_wide ? "given the visible units, " + plan.complaint(kHiddenLimits) : "";
}

std::optional<double> exact_log_z(const Boltzmann& machine, const Context& context) {
  const EliminationPlan plan = plan_of(machine, 0, kLimits);
  require(!plan.too_wide, plan.complaint(kLimits) + "; take the pseudo-likelihood, or a narrower graph");
  Matrix<double> fields(1, machine.bias().size());
  std::ranges::copy(machine.bias(), fields.row(0).begin());
  const auto found = log_sums(plan, machine, fields, context);
  return found ? std::optional(found->front()) : std::nullopt;
}

std::optional<std::vector<double>> exact_free_energy(const Boltzmann& machine, const State& visible,
                                                     const Context& context) {
  require_rows_of(machine, visible);
  if (machine.hidden() == 0) return machine.energy(visible, context);
  const EliminationPlan plan = plan_of(machine, machine.visible(), kHiddenLimits);
  require(!plan.too_wide, "given the visible units, " + plan.complaint(kHiddenLimits) +
                              "; take fewer hidden units, or fewer couplings between them");
  const std::size_t at_a_time = rows_at_a_time(plan), rows = visible.chains();
  std::vector<double> out;
  for (std::size_t first = 0; first < rows; first += at_a_time) {
    if (context.stop_requested()) return std::nullopt;
    const HiddenFields given(machine, visible.rows(first, std::min(at_a_time, rows - first)), context);
    const auto sums = log_sums(plan, machine, given.fields, {context.threads});
    for (std::size_t r = 0; r < sums->size(); ++r) out.push_back(given.energies[r] - (*sums)[r]);
    const auto terms = static_cast<std::uint64_t>(plan.terms);
    context.progress({out.size() * terms, rows * terms});
  }
  return out;
}

}  // namespace ergodic
