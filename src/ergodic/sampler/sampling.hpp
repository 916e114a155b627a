// Sampling: the sampler that options ask for, on any model, behind one virtual call for each sweep.
//
// Which samplers a model takes follows from what it offers (model/concepts.hpp): conditionals for gibbs, an energy for
// metropolis, forces on gaussian units for langevin, mala and hmc. A model with hidden units that can be summed over
// offers its free energy to all but gibbs; they leave the hidden layers to be drawn given the visible one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/temperature.hpp"
#include "ergodic/model/visible_marginal.hpp"
#include "ergodic/option/spec.hpp"
#include "ergodic/sampler/chains.hpp"
#include "ergodic/sampler/samplers.hpp"
#include "ergodic/sampler/simulated_annealing.hpp"
#include "ergodic/sampler/tempering.hpp"

namespace ergodic {

inline constexpr std::string_view kAutoSampler = "auto", kTempering = "tempering", kAnnealing = "annealing";

struct SamplingOptions {
  std::uint64_t sweeps = 1000;  ///< to the first draw; the first half is warm-up, in which steps and ladders adapt
  std::uint64_t draws = 1;      ///< states of each chain that are kept
  std::uint64_t every = 1;      ///< sweeps from one of them to the next
  std::string sampler{kAutoSampler};
  std::string inner{kAutoSampler};  ///< what tempering and annealing are made of
  double temperature = 1.0;         ///< p(x) is proportional to exp(-E(x) / temperature)
  KernelOptions kernel;
  std::uint64_t levels = 10;  ///< rungs of the ladder of tempering
  double hottest = 0.1;
  double coldest = 10.0;
  std::vector<Parameters> stations = {};  ///< levels of tempering in the order of training, instead of temperatures
};

/// --sweeps, --sampler and what belongs to single samplers.
const Spec<SamplingOptions>& sampling_spec();

/// A level of tempering as it is now: its inverse temperature, relative to the first, and its states.
struct SampledLevel {
  std::optional<double> beta;  ///< nothing for a level that is another machine
  State first_layer;
};

class Sampling {
 public:
  virtual ~Sampling() = default;

  /// One sweep of chains of all layers of the model, always the same chains.
  virtual void sweep(Chains& chains, Key key, const Context& context) = 0;
  /// The share of proposals accepted in the second half of the run; nothing before it, or if nothing is proposed.
  virtual std::optional<double> accepted() const = 0;
  /// How often each level swaps with the next one in that half; empty without tempering.
  virtual std::vector<double> swapped() const { return {}; }
  /// All levels of tempering, the first of which is the result; empty without.
  virtual std::vector<SampledLevel> levels() const { return {}; }
  /// The states of lowest energy that annealing has found; null for other samplers.
  virtual const Lowest* lowest() const { return nullptr; }
};

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

template <class Kernel, class Model>
class PlainSampling final : public Sampling {
 public:
  PlainSampling(const SamplingOptions& options, Kernel kernel, bool proposes, const Model& model)
      : kernel_(std::move(kernel)), model_(model), rates_(options.sweeps, proposes) {}

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
  TemperedSampling(const SamplingOptions& options, const Inner& inner, bool proposes, Ladder ladder)
      : kernel_{std::vector<Inner>(ladder.levels(), inner)},
        ladder_(std::move(ladder)),
        rates_(options.sweeps, proposes),
        trial_end_(options.sweeps / 4),
        trial_(trial_end_, proposes) {}

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
  std::vector<SampledLevel> levels() const override {
    std::vector<SampledLevel> out;
    for (std::size_t k = 0; k < ladder_.levels(); ++k) {
      std::optional<double> beta;
      if constexpr (requires { ladder_.betas(); }) beta = ladder_.betas()[k];
      out.push_back({beta, layers_at(k, ladder_.levels(), all_.layers)[0]});
    }
    return out;
  }

 private:
  /// Temperatures move after every sweep of warm-up. Stations that are not needed are left out once, in the middle of
  /// it.
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
  Rates trial_;  // swap rates of all stations
  Chains all_;   // at every level
};

template <class Inner, class Model>
class AnnealedSampling final : public Sampling {
 public:
  AnnealedSampling(const SamplingOptions& options, const Inner& inner, bool proposes, const Model& model)
      : kernel_{inner, options.sweeps, options.hottest, options.coldest},
        model_(model),
        rates_(options.sweeps, proposes) {}

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

/// The name of the sampler itself, or of what tempering and annealing are made of: `otherwise` for auto. UsageError for
/// --inner where nothing is made of another sampler.
std::string plain_sampler(const SamplingOptions& options, std::string_view otherwise);

/// UsageError that says why the sampler of this name does not serve a model of these units.
[[noreturn]] void refuse_sampler(const std::string& name, bool follows_forces, const Layer& units);

/// What `auto` means: the best sampler for what a model offers.
template <EnergyModel Model>
std::string_view best_sampler(const SamplingOptions& options) {
  if constexpr (GibbsModel<Model>) return GibbsRow::kName;
  const bool alone = options.sampler == kAutoSampler && options.inner == kAutoSampler;
  if constexpr (JumpingRow::kServes<Model>) {
    if (alone && options.kernel.fixed.rows() == 0) return JumpingRow::kName;
  }
  return SmoothModel<Model> ? MalaRow::kName : MetropolisRow::kName;
}

/// The sampling of a model by one row of the list. Levels of tempering are the models of a training run; without any,
/// the temperatures of the options.
template <class Row, class Model>
std::unique_ptr<Sampling> sampling_by(const SamplingOptions& options, const Model& model, std::vector<Model> levels,
                                      const Context& context) {
  const auto kernel = Row::kernel(options.kernel);
  using Kernel = std::remove_const_t<decltype(kernel)>;
  if (options.sampler != kTempering && options.sampler != kAnnealing) {
    return std::make_unique<PlainSampling<Kernel, Model>>(options, kernel, Row::kProposes, model);
  }
  using Hot = decltype(at_temperature(model, 1.0, context));
  if constexpr (Row::template kServes<Hot>) {
    if (options.sampler == kAnnealing) {
      return std::make_unique<AnnealedSampling<Kernel, Model>>(options, kernel, Row::kProposes, model);
    }
    if (levels.empty()) {
      Replicas<Model> ladder(model, geometric_ladder(options.levels, options.hottest), context);
      return std::make_unique<TemperedSampling<Kernel, Replicas<Model>>>(options, kernel, Row::kProposes,
                                                                         std::move(ladder));
    }
    return std::make_unique<TemperedSampling<Kernel, Stations<Model>>>(options, kernel, Row::kProposes,
                                                                       Stations<Model>(std::move(levels)));
  }
  throw UsageError(std::string(Row::kName) + " works at temperature 1 only; take another --inner");
}

/// The sampling of a model by the sampler of this name. UsageError if the model does not offer what it needs.
template <EnergyModel Model>
std::unique_ptr<Sampling> sampling_named(const std::string& name, const SamplingOptions& options, const Model& model,
                                         std::vector<Model> levels, const Context& context) {
  const Layer units = first_layer(model);
  std::unique_ptr<Sampling> out;
  bool follows_forces = false;
  any_sampler([&]<class Row>(Row) {
    if (name != Row::kName) return false;
    follows_forces = Row::kFollowsForces;
    if constexpr (Row::template kServes<Model>) {
      if (!follows_forces || has_forces(units)) out = sampling_by<Row>(options, model, std::move(levels), context);
    }
    return true;
  });
  if (!out) refuse_sampler(name, follows_forces, units);
  return out;
}

/// The visible layer sampled by itself, by its free energy, and the hidden layers drawn given it after each sweep.
template <class Model>
class MarginalSampling final : public Sampling {
 public:
  MarginalSampling(const std::string& name, const SamplingOptions& options, const Model& model,
                   std::vector<Model> levels, const Context& context)
      : marginal_{model},
        levels_(std::move(levels)),
        visible_(sampling_named(name, options, marginal_, marginals_of(levels_), context)) {}

  void sweep(Chains& chains, Key key, const Context& context) override {
    const std::uint64_t sweep = chains.sweep;
    Chains visible{{std::move(chains.layers[0])}, sweep, chains.first_chain};
    visible_->sweep(visible, key, context);
    chains.layers[0] = std::move(visible.layers[0]);
    chains.sweep = visible.sweep;
    for (std::size_t block = 1; block < chains.layers.size(); ++block) {
      const Draw draw = key.at(Purpose::kGibbs, sweep, static_cast<std::uint8_t>(block));
      marginal_.machine.resample(block, chains.layers, draw, chains.first_chain, context);
    }
  }
  std::optional<double> accepted() const override { return visible_->accepted(); }
  std::vector<double> swapped() const override { return visible_->swapped(); }
  std::vector<SampledLevel> levels() const override { return visible_->levels(); }
  const Lowest* lowest() const override { return visible_->lowest(); }

 private:
  static std::vector<VisibleMarginal<Model>> marginals_of(const std::vector<Model>& models) {
    std::vector<VisibleMarginal<Model>> out;
    for (const Model& model : models) out.push_back({model});
    return out;
  }

  VisibleMarginal<Model> marginal_;
  std::vector<Model> levels_;
  std::unique_ptr<Sampling> visible_;
};

/// The model, and after it those with the parameters of the stations from the last to the first; nothing without any.
template <class Model>
std::vector<Model> levels_along(const Model& model, std::span<const Parameters> stations, const Context& context) {
  std::vector<Model> out;
  if constexpr (ParametricModel<Model>) {
    if (!stations.empty()) out.push_back(model);
    for (std::size_t k = stations.size(); k-- > 0;) {
      out.push_back(model);
      out.back().update([&](Parameters& p) { p = stations[k]; }, context);
    }
  }
  return out;
}

/// The sampling that the options ask for. It refers to the model. UsageError if the model does not offer what the
/// sampler needs.
template <EnergyModel Model>
std::unique_ptr<Sampling> make_sampling(const SamplingOptions& options, const Model& model, const Context& context);

/// A model at another temperature, with its sampling.
template <class Hot>
class HeatedSampling final : public Sampling {
 public:
  HeatedSampling(const SamplingOptions& options, Hot hot, const Context& context)
      : hot_(std::move(hot)), inner_(make_sampling(options, hot_, context)) {}

  void sweep(Chains& chains, Key key, const Context& context) override { inner_->sweep(chains, key, context); }
  std::optional<double> accepted() const override { return inner_->accepted(); }
  std::vector<double> swapped() const override { return inner_->swapped(); }
  std::vector<SampledLevel> levels() const override { return inner_->levels(); }
  const Lowest* lowest() const override { return inner_->lowest(); }

 private:
  Hot hot_;
  std::unique_ptr<Sampling> inner_;
};

template <class T>
inline constexpr bool kIsHeated = false;
template <class Model>
inline constexpr bool kIsHeated<Heated<Model>> = true;

template <EnergyModel Model>
std::unique_ptr<Sampling> make_sampling(const SamplingOptions& options, const Model& model, const Context& context) {
  if (options.temperature != 1.0) {
    require(options.stations.empty(), "--path gives machines of temperature 1; leave out either it or --temperature");
    if constexpr (!kIsHeated<Model>) {
      SamplingOptions inner = options;
      inner.temperature = 1.0;
      auto hot = at_temperature(model, 1.0 / options.temperature, context);
      return std::make_unique<HeatedSampling<decltype(hot)>>(inner, std::move(hot), context);
    }
  }
  if (options.kernel.fixed.rows() == 1) free_sites(options.kernel.fixed, first_layer(model));  // refuses to fix all
  const std::string name = plain_sampler(options, best_sampler<Model>(options));
  std::vector<Model> levels = levels_along(model, options.stations, context);
  if constexpr (MarginalModel<Model> && GibbsModel<Model>) {
    if (name != GibbsRow::kName) {
      return std::make_unique<MarginalSampling<Model>>(name, options, model, std::move(levels), context);
    }
  }
  return sampling_named(name, options, model, std::move(levels), context);
}

}  // namespace ergodic
