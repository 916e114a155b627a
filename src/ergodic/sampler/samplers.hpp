// The samplers that options can name: one row each, with what it needs of a model. --sampler and --inner, their help
// and the tests follow from the list.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "ergodic/core/bits.hpp"
#include "ergodic/model/concepts.hpp"
#include "ergodic/sampler/gibbs.hpp"
#include "ergodic/sampler/hmc.hpp"
#include "ergodic/sampler/jumping.hpp"
#include "ergodic/sampler/langevin.hpp"
#include "ergodic/sampler/metropolis.hpp"

namespace ergodic {

/// What single samplers take.
struct KernelOptions {
  std::uint64_t flips = 1;
  double step = 0.1;
  std::uint64_t leapfrogs = 10;
  Bits fixed =
      {};  ///< the units of the first layer that stay: one row, for gibbs also a row for each chain; empty: none
};

/// A row: the name, a line of help, whether it makes proposals that may be refused, whether it follows forces, which
/// models it serves, and the kernel for some options.
struct GibbsRow {
  static constexpr std::string_view kName = "gibbs", kHelp = "each layer drawn in turn given the others";
  static constexpr bool kProposes = false, kFollowsForces = false;
  template <class Model>
  static constexpr bool kServes = GibbsModel<Model>;
  static Gibbs kernel(const KernelOptions& options) { return {options.fixed}; }
};
struct MetropolisRow {
  static constexpr std::string_view kName = "metropolis", kHelp = "random changes that are accepted or not";
  static constexpr bool kProposes = true, kFollowsForces = false;
  template <class Model>
  static constexpr bool kServes = EnergyModel<Model>;
  static Metropolis kernel(const KernelOptions& options) { return {options.step, options.flips, 0, options.fixed}; }
};
struct LangevinRow {
  static constexpr std::string_view kName = "langevin",
                                    kHelp = "noisy steps along the forces on gaussian units, all of them taken";
  static constexpr bool kProposes = false, kFollowsForces = true;
  template <class Model>
  static constexpr bool kServes = SmoothModel<Model>;
  static Langevin kernel(const KernelOptions& options) { return {options.step, false, options.fixed}; }
};
struct MalaRow {
  static constexpr std::string_view kName = "mala", kHelp = "Langevin steps that are accepted or not";
  static constexpr bool kProposes = true, kFollowsForces = true;
  template <class Model>
  static constexpr bool kServes = SmoothModel<Model>;
  static Langevin kernel(const KernelOptions& options) { return {options.step, true, options.fixed}; }
};
struct HmcRow {
  static constexpr std::string_view kName = "hmc", kHelp = "Hamiltonian trajectories of gaussian units";
  static constexpr bool kProposes = true, kFollowsForces = true;
  template <class Model>
  static constexpr bool kServes = SmoothModel<Model>;
  static Hmc kernel(const KernelOptions& options) { return {options.step, options.leapfrogs, options.fixed}; }
};
struct JumpingRow {
  static constexpr std::string_view kName = "jumping",
                                    kHelp =
                                        "Langevin steps that are accepted or not, and jumps to draws of the bowl of "
                                        "a neural energy";
  static constexpr bool kProposes = true, kFollowsForces = true;
  template <class Model>
  static constexpr bool kServes = BowlModel<Model>&& SmoothModel<Model>;
  static Jumping<Langevin> kernel(const KernelOptions& options) { return {{options.step, true, options.fixed}}; }
};

/// The list.
using Samplers = std::tuple<GibbsRow, MetropolisRow, LangevinRow, MalaRow, HmcRow, JumpingRow>;

/// Calls f(row) for each row of the list, until one call returns true; whether one did.
template <class F>
bool any_sampler(const F& f) {
  return std::apply([&](const auto&... rows) { return (f(rows) || ...); }, Samplers{});
}

}  // namespace ergodic
