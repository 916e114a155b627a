#include "ergodic/estimator/energy_log_z.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/model/all_states.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kStatesAtATime = 4096;
constexpr double kNegligible = 45.0;  // e^-45 of the largest weight, at all points of any grid here, is below 1e-12
constexpr double kTolerance = 1e-7;   // of log Z, between two spacings
constexpr double kFirstPoints =
    128.0;  // along an axis; the spacing is a power of two, so there are up to twice as many
constexpr double kMostPoints[] = {0x1p20, 0x1p10};  // the same, for one unit and for two
constexpr double kFirstExtent = 8.0;                // the first box reaches from -8 to 8
constexpr double kLargestExtent = 1e15;             // floats can be squared far beyond it
constexpr std::size_t kMostBoxes = 200;

/// Adds exp(-E) of rows; an infinite energy has no weight.
void add_weights(LogSum& sum, const std::vector<double>& energies) {
  for (const double energy : energies) {
    if (!(energy > -std::numeric_limits<double>::infinity())) {
      throw NumericError(fmt::format("log Z needs energies that are numbers above minus infinity, found {}", energy));
    }
    if (energy < std::numeric_limits<double>::infinity()) sum.add(-energy);
  }
}

// ---- Enumeration

std::optional<Estimate> enumerated(const Layer& units, const EnergyOfRows& energy, const Context& context) {
  const AllStates all(units);
  LogSum sum;
  for (std::uint64_t first = 0; first < all.count(); first += kStatesAtATime) {
    if (context.stop_requested()) return std::nullopt;
    const State x = all.states(first, std::min<std::uint64_t>(kStatesAtATime, all.count() - first));
    add_weights(sum, energy(x));
    context.progress({first + x.chains(), all.count()});
  }
  return exactly(sum.value());
}

// ---- Quadrature

/// An interval for each unit.
struct Box {
  std::vector<double> low, high;

  double extent(std::size_t i) const { return high[i] - low[i]; }
  Box doubled() const {
    Box out = *this;
    for (std::size_t i = 0; i < low.size(); ++i) {
      out.low[i] -= 0.5 * extent(i);
      out.high[i] += 0.5 * extent(i);
    }
    return out;
  }
};

/// Points at multiples of a spacing that is a power of two: they are exact floats, unless the box is very far from 0.
struct Grid {
  std::vector<double> spacing;
  std::vector<std::int64_t> first, count;

  Grid(const Box& box, double points) {
    for (std::size_t i = 0; i < box.low.size(); ++i) {
      spacing.push_back(std::ldexp(1.0, std::ilogb(box.extent(i) / points)));
      first.push_back(static_cast<std::int64_t>(std::floor(box.low[i] / spacing[i])));
      count.push_back(static_cast<std::int64_t>(std::ceil(box.high[i] / spacing[i])) - first[i] + 1);
    }
  }

  std::int64_t points() const {
    std::int64_t out = 1;
    for (const std::int64_t c : count) out *= c;
    return out;
  }
  /// The coordinate of a point along an axis.
  double at(std::int64_t point, std::size_t i) const {
    for (std::size_t k = 0; k < i; ++k) point /= count[k];
    return static_cast<double>(first[i] + point % count[i]) * spacing[i];
  }
};

/// Calls f(number of the first point, energies) for all points in order; false if stopped.
template <class F>
bool for_points(const Grid& grid, const EnergyOfRows& energy, const Context& context, const F& f) {
  for (std::int64_t first = 0; first < grid.points(); first += kStatesAtATime) {
    if (context.stop_requested()) return false;
    Matrix<float> x(static_cast<std::size_t>(std::min<std::int64_t>(kStatesAtATime, grid.points() - first)),
                    grid.spacing.size());
    for (std::size_t r = 0; r < x.rows(); ++r) {
      for (std::size_t i = 0; i < x.cols(); ++i) {
        x(r, i) = static_cast<float>(grid.at(first + static_cast<std::int64_t>(r), i));
      }
    }
    f(first, energy(State(std::move(x))));
  }
  return true;
}

std::optional<double> log_integral(const Grid& grid, const EnergyOfRows& energy, const Context& context) {
  LogSum sum;
  const auto add = [&](std::int64_t, const std::vector<double>& energies) { add_weights(sum, energies); };
  if (!for_points(grid, energy, context, add)) return std::nullopt;
  double out = sum.value();
  for (const double h : grid.spacing) out += portable_log(h);
  return out;
}

/// The smallest box with all points whose weight matters.
std::optional<Box> support_of(const Grid& grid, const EnergyOfRows& energy, const Context& context) {
  std::vector<double> all;
  LogSum checked;
  const auto keep = [&](std::int64_t, const std::vector<double>& energies) {
    add_weights(checked, energies);
    all.insert(all.end(), energies.begin(), energies.end());
  };
  if (!for_points(grid, energy, context, keep)) return std::nullopt;
  const double most = *std::min_element(all.begin(), all.end()) + kNegligible;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Box out{std::vector<double>(grid.spacing.size(), kInfinity), std::vector<double>(grid.spacing.size(), -kInfinity)};
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (all[k] > most) continue;
    for (std::size_t i = 0; i < grid.spacing.size(); ++i) {
      out.low[i] = std::min(out.low[i], grid.at(static_cast<std::int64_t>(k), i));
      out.high[i] = std::max(out.high[i], grid.at(static_cast<std::int64_t>(k), i));
    }
  }
  return out;
}

/// The box outside of which nothing matters: wider where the support reaches its edge, narrower where it fills little.
std::optional<Box> box_of(std::size_t units, const EnergyOfRows& energy, const Context& context) {
  Box box{std::vector<double>(units, -kFirstExtent), std::vector<double>(units, kFirstExtent)};
  for (std::size_t k = 0; k < kMostBoxes; ++k) {
    const Grid grid(box, kFirstPoints);
    const std::optional<Box> support = support_of(grid, energy, context);
    if (!support) return std::nullopt;
    bool settled = true;
    for (std::size_t i = 0; i < units; ++i) {
      const double extent = box.extent(i), filled = support->extent(i);
      const bool at_low = support->low[i] <= box.low[i], at_high = support->high[i] >= box.high[i];
      const bool narrow = !at_low && !at_high && filled < 0.4 * extent;
      settled = settled && !at_low && !at_high && !narrow;
      if (at_low) box.low[i] -= 0.5 * extent;
      if (at_high) box.high[i] += 0.5 * extent;
      if (narrow) {
        const double margin = 0.1 * filled + 2.0 * grid.spacing[i];
        box.low[i] = support->low[i] - margin;
        box.high[i] = support->high[i] + margin;
      }
      if (extent > kLargestExtent) {
        throw NumericError(
            fmt::format("the energy does not confine unit {}: exp(-E) still matters {:.0e} away, and has "
                        "no integral; add a term that grows with the square of the unit",
                        i, extent));
      }
    }
    if (settled) return box;
  }
  throw NumericError("no box was found that holds exp(-E): its integral cannot be taken on a grid");
}

std::optional<Estimate> integrated(std::size_t units, const EnergyOfRows& energy, const Context& context) {
  const std::optional<Box> box = box_of(units, energy, context);
  if (!box) return std::nullopt;
  std::optional<double> value = log_integral(Grid(*box, kFirstPoints), energy, context);
  const std::optional<double> wider = log_integral(Grid(box->doubled(), 2.0 * kFirstPoints), energy, context);
  if (!value || !wider) return std::nullopt;
  const double outside = std::abs(*wider - *value);
  double change = 0.0;
  for (double points = 2.0 * kFirstPoints; points <= kMostPoints[units - 1]; points *= 2.0) {
    const std::optional<double> finer = log_integral(Grid(*box, points), energy, context);
    if (!finer) return std::nullopt;
    change = std::abs(*finer - *value);
    value = finer;
    if (change <= kTolerance) break;
  }
  const double error = std::max(change, outside);
  return Estimate{*value, *value - error, *value + error, 0.0, "quadrature"};
}

}  // namespace

bool exactly_summable(const Layer& units) {
  if (!real_valued(units)) return log2_states(units) <= kMaxEnergyBits;
  return has_forces(units) && units_of(units) <= kMaxIntegratedUnits;
}

std::optional<Estimate> exact_log_z(const Layer& units, const EnergyOfRows& energy, const Context& context) {
  if (!exactly_summable(units)) return std::nullopt;
  return real_valued(units) ? integrated(units_of(units), energy, context) : enumerated(units, energy, context);
}

Estimate mean_log_likelihood(const std::vector<double>& energies, const Estimate& log_z) {
  double sum = 0.0;
  for (const double energy : energies) sum += energy;
  return log_likelihood_of(exactly(sum / static_cast<double>(energies.size())), log_z);
}

Estimate log_likelihood_of(const Estimate& mean_energy, const Estimate& log_z) {
  return {-mean_energy.value - log_z.value, -mean_energy.upper - log_z.upper, -mean_energy.lower - log_z.lower,
          std::hypot(mean_energy.standard_error, log_z.standard_error),
          mean_energy.standard_error > 0.0 ? mean_energy.method : log_z.method};
}

}  // namespace ergodic
