// Sampling: the sampler that options ask for, on any machine, behind one call for each sweep.
//
// Which samplers a machine takes follows from what it offers (model/concepts.hpp): conditionals for gibbs, an energy
// for metropolis, forces on gaussian units for langevin, mala and hmc. An RBM offers its conditionals, and the free
// energy of its visible layer to all others; they leave the hidden layer to be drawn given the visible one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ergodic/core/bits.hpp"
#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/boltzmann.hpp"
#include "ergodic/model/concepts.hpp"
#include "ergodic/model/rbm.hpp"
#include "ergodic/run/spec.hpp"
#include "ergodic/sampler/chains.hpp"
#include "ergodic/sampler/gibbs.hpp"
#include "ergodic/sampler/hmc.hpp"
#include "ergodic/sampler/jumping.hpp"
#include "ergodic/sampler/langevin.hpp"
#include "ergodic/sampler/metropolis.hpp"
#include "ergodic/sampler/simulated_annealing.hpp"
#include "ergodic/sampler/tempering.hpp"

namespace ergodic {

enum class SamplerKind { kAuto, kGibbs, kMetropolis, kLangevin, kMala, kHmc, kTempering, kAnnealing };

template <>
struct Names<SamplerKind> {
  static constexpr std::array<std::pair<SamplerKind, std::string_view>, 8> kAll{
      {{SamplerKind::kAuto, "auto"},
       {SamplerKind::kGibbs, "gibbs"},
       {SamplerKind::kMetropolis, "metropolis"},
       {SamplerKind::kLangevin, "langevin"},
       {SamplerKind::kMala, "mala"},
       {SamplerKind::kHmc, "hmc"},
       {SamplerKind::kTempering, "tempering"},
       {SamplerKind::kAnnealing, "annealing"}}};
};

/// What tempering and annealing are made of.
enum class InnerKind { kAuto, kGibbs, kMetropolis, kLangevin, kMala, kHmc };

template <>
struct Names<InnerKind> {
  static constexpr std::array<std::pair<InnerKind, std::string_view>, 6> kAll{{{InnerKind::kAuto, "auto"},
                                                                               {InnerKind::kGibbs, "gibbs"},
                                                                               {InnerKind::kMetropolis, "metropolis"},
                                                                               {InnerKind::kLangevin, "langevin"},
                                                                               {InnerKind::kMala, "mala"},
                                                                               {InnerKind::kHmc, "hmc"}}};
};

struct SamplingOptions {
  std::uint64_t sweeps = 1000;  ///< the first half is warm-up, in which steps and ladders adapt
  SamplerKind sampler = SamplerKind::kAuto;
  InnerKind inner = InnerKind::kAuto;
  std::uint64_t flips = 1;
  double step = 0.1;
  std::uint64_t leapfrogs = 10;
  std::uint64_t temperatures = 10;
  double hottest = 0.1;
  double coldest = 10.0;
  Bits fixed = {};                        ///< one row: the visible units that stay; empty: none
  std::vector<Parameters> stations = {};  ///< levels of tempering in the order of training, instead of temperatures
};

/// Adds --sweeps, --sampler and what belongs to single samplers.
void add_sampling_options(Spec& spec, SamplingOptions& options);

class Sampling {
 public:
  virtual ~Sampling() = default;

  /// One sweep of chains of all layers of the machine, always the same chains.
  virtual void sweep(Chains& chains, Key key, const Context& context) = 0;
  /// The share of the proposals of the second half of the run; nothing before it, or if nothing is proposed.
  virtual std::optional<double> accepted() const = 0;
  /// How often each level swaps with the next one in that half; empty without tempering.
  virtual std::vector<double> swapped() const { return {}; }
  /// Of annealing; null for others.
  virtual const Lowest* lowest() const { return nullptr; }
};

/// The sampler for a machine, which it refers to. UsageError if the machine does not offer what the sampler needs.
std::unique_ptr<Sampling> make_sampling(const SamplingOptions& options, const Rbm& machine, const Context& context);
std::unique_ptr<Sampling> make_sampling(const SamplingOptions& options, const Boltzmann& machine,
                                        const Context& context);
/// Auto is mala with jumps from the bowl.
std::unique_ptr<Sampling> make_sampling(const SamplingOptions& options, const Neural& machine, const Context& context);
/// For any energy with forces and without conditionals.
template <SmoothModel Machine>
std::unique_ptr<Sampling> make_sampling(const SamplingOptions& options, const Machine& machine, const Context& context);

/// The least and the most of swap rates, for a person; nothing without tempering.
std::string swap_text(std::span<const double> swapped);

// ---- How it is done ----

/// Averages over the second half of a run.
class Rates {
 public:
  Rates(std::uint64_t sweeps, bool proposes) : warm_up_(sweeps / 2), proposes_(proposes) {}

  bool warming(std::uint64_t sweep) const { return sweep < warm_up_; }
  void count(const StepInfo& info);
  std::optional<double> accepted() const;
  std::vector<double> swapped() const;

 private:
  std::uint64_t warm_up_;
  bool proposes_;
  std::uint64_t counted_ = 0;
  double accepted_ = 0.0;
  std::vector<double> swapped_;
};

/// Whether a sampler makes proposals that may be refused.
inline bool proposes(const Gibbs&) { return false; }
inline bool proposes(const Metropolis&) { return true; }
inline bool proposes(const Langevin& kernel) { return kernel.adjusted; }
inline bool proposes(const Hmc&) { return true; }
template <class Inner>
bool proposes(const Jumping<Inner>& kernel) {
  return proposes(kernel.inner);
}

template <class Kernel, class Model>
class PlainSampling final : public Sampling {
 public:
  PlainSampling(const SamplingOptions& options, Kernel kernel, const Model& model)
      : kernel_(std::move(kernel)), model_(model), rates_(options.sweeps, proposes(kernel_)) {}

  void sweep(Chains& chains, Key key, const Context& context) override {
    const std::uint64_t sweep = chains.sweep;
    const StepInfo info = step(kernel_, model_, chains, key, context);
    if (rates_.warming(sweep)) {
      kernel_ = adapted(std::move(kernel_), info, sweep);
    } else {
      rates_.count(info);
    }
  }
  std::optional<double> accepted() const override { return rates_.accepted(); }

 private:
  Kernel kernel_;
  const Model& model_;
  Rates rates_;
};

template <class Inner, class Ladder>
class TemperedSampling final : public Sampling {
 public:
  TemperedSampling(const SamplingOptions& options, const Inner& inner, Ladder ladder)
      : kernel_{std::vector<Inner>(ladder.levels(), inner)},
        ladder_(std::move(ladder)),
        rates_(options.sweeps, proposes(inner)),
        trial_end_(options.sweeps / 4),
        trial_(trial_end_, proposes(inner)) {}

  void sweep(Chains& chains, Key key, const Context& context) override {
    if (all_.layers.empty()) all_ = chains;
    const std::uint64_t sweep = all_.sweep;
    const StepInfo info = step(kernel_, ladder_, all_, key, context);
    if (rates_.warming(sweep)) {
      kernel_ = adapted(std::move(kernel_), info, sweep);
      adapt(info, sweep, context);
    } else {
      rates_.count(info);
    }
    std::copy_n(all_.layers.begin(), chains.layers.size(), chains.layers.begin());
    chains.sweep = all_.sweep;
  }
  std::optional<double> accepted() const override { return rates_.accepted(); }
  std::vector<double> swapped() const override { return rates_.swapped(); }

 private:
  /// Temperatures move after every sweep of warm-up. Of stations those that are not needed are left out once, in the
  /// middle of it.
  void adapt(const StepInfo& info, std::uint64_t sweep, const Context& context) {
    if constexpr (requires { ladder_.adapt(info, sweep, context); }) {
      ladder_.adapt(info, sweep, context);
    } else if (sweep < trial_end_) {
      if (!trial_.warming(sweep)) trial_.count(info);
      if (sweep + 1 == trial_end_) keep_levels(enough_levels(trial_.swapped()), kernel_, ladder_, all_);
    }
  }

  Tempered<Inner> kernel_;
  Ladder ladder_;
  Rates rates_;
  std::uint64_t trial_end_;
  Rates trial_;  // of all stations
  Chains all_;   // at every level
};

template <class Inner, class Model>
class AnnealedSampling final : public Sampling {
 public:
  AnnealedSampling(const SamplingOptions& options, const Inner& inner, const Model& model)
      : kernel_{inner, options.sweeps, options.hottest, options.coldest},
        model_(model),
        rates_(options.sweeps, proposes(inner)) {}

  void sweep(Chains& chains, Key key, const Context& context) override {
    const std::uint64_t sweep = chains.sweep;
    const StepInfo info = step(kernel_, model_, chains, key, context);
    if (!rates_.warming(sweep)) rates_.count(info);
    kernel_ = adapted(std::move(kernel_), info, sweep);
    keep_lowest(model_, chains, lowest_, context);
  }
  std::optional<double> accepted() const override { return rates_.accepted(); }
  const Lowest* lowest() const override { return &lowest_; }

 private:
  Annealed<Inner> kernel_;
  const Model& model_;
  Rates rates_;
  Lowest lowest_;
};

/// What the options name: the sampler itself, or what tempering and annealing are made of.
SamplerKind plain_kind(const SamplingOptions& options, SamplerKind standard);
/// UsageError that says which samplers there are, for units on which no forces act.
void require_forces(SamplerKind kind, const Layer& units);

/// Levels are the machines of a trajectory; without any, the temperatures of the options.
template <class Kernel, class Model>
std::unique_ptr<Sampling> sampling_with(const SamplingOptions& options, const Kernel& kernel, const Model& model,
                                        std::vector<Model> levels, const Context& context) {
  switch (options.sampler) {
    case SamplerKind::kTempering:
      if (!levels.empty()) {
        return std::make_unique<TemperedSampling<Kernel, Stations<Model>>>(options, kernel,
                                                                           Stations<Model>(std::move(levels)));
      }
      return std::make_unique<TemperedSampling<Kernel, Replicas<Model>>>(
          options, kernel, Replicas<Model>(model, geometric_ladder(options.temperatures, options.hottest), context));
    case SamplerKind::kAnnealing:
      return std::make_unique<AnnealedSampling<Kernel, Model>>(options, kernel, model);
    default:
      return std::make_unique<PlainSampling<Kernel, Model>>(options, kernel, model);
  }
}

/// By the energy, and by forces if the machine has them.
template <EnergyModel Model>
std::unique_ptr<Sampling> sampling_by_energy(const SamplingOptions& options, SamplerKind kind, const Model& model,
                                             std::vector<Model> levels, const Context& context) {
  if (kind == SamplerKind::kMetropolis) {
    const Metropolis kernel{options.step, options.flips, 0, options.fixed};
    return sampling_with(options, kernel, model, std::move(levels), context);
  }
  require_forces(kind, model.units());
  if constexpr (SmoothModel<Model>) {
    if (kind == SamplerKind::kHmc) {
      const Hmc kernel{options.step, options.leapfrogs, options.fixed};
      return sampling_with(options, kernel, model, std::move(levels), context);
    }
    const Langevin kernel{options.step, kind == SamplerKind::kMala, options.fixed};
    return sampling_with(options, kernel, model, std::move(levels), context);
  }
  throw UsageError("this machine has no forces; take gibbs or metropolis");
}

template <SmoothModel Machine>
std::unique_ptr<Sampling> make_sampling(const SamplingOptions& options, const Machine& machine,
                                        const Context& context) {
  const SamplerKind kind = plain_kind(options, SamplerKind::kMala);
  require(kind != SamplerKind::kGibbs,
          "gibbs draws units given the others, for which this machine has no formula; take metropolis, langevin, mala "
          "or hmc");
  return sampling_by_energy(options, kind, machine, {}, context);
}

}  // namespace ergodic
