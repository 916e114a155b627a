#include "ergodic/run/sampling.hpp"

#include <fmt/format.h>

#include "ergodic/model/visible_marginal.hpp"

namespace ergodic {
namespace {

/// The visible layer of an RBM by itself, and the hidden one drawn given it after each sweep.
class MarginalSampling final : public Sampling {
 public:
  MarginalSampling(const SamplingOptions& options, SamplerKind kind, const Rbm& machine, std::vector<Rbm> levels,
                   const Context& context)
      : marginal_{machine},
        levels_(std::move(levels)),
        visible_(sampling_by_energy(options, kind, marginal_, marginals_of(levels_), context)) {}

  void sweep(Chains& chains, Key key, const Context& context) override {
    const Draw draw = key.at(Purpose::kGibbs, chains.sweep, Rbm::kHidden);
    Chains visible{{std::move(chains.layers[Rbm::kVisible])}, chains.sweep, chains.first_chain};
    visible_->sweep(visible, key, context);
    chains.layers[Rbm::kVisible] = std::move(visible.layers[0]);
    chains.sweep = visible.sweep;
    marginal_.machine.resample(Rbm::kHidden, chains.layers, draw, chains.first_chain, context);
  }
  std::optional<double> accepted() const override { return visible_->accepted(); }
  std::vector<double> swapped() const override { return visible_->swapped(); }
  const Lowest* lowest() const override { return visible_->lowest(); }

 private:
  static std::vector<VisibleMarginal> marginals_of(const std::vector<Rbm>& machines) {
    std::vector<VisibleMarginal> out;
    for (const Rbm& machine : machines) out.push_back({machine});
    return out;
  }

  VisibleMarginal marginal_;
  std::vector<Rbm> levels_;
  std::unique_ptr<Sampling> visible_;
};

/// The machine, and after it those with the parameters of the stations from the last to the first; nothing without any.
template <class Machine>
std::vector<Machine> levels_along(const Machine& machine, std::span<const Parameters> stations,
                                  const Context& context) {
  std::vector<Machine> out;
  if (!stations.empty()) out.push_back(machine);
  for (std::size_t k = stations.size(); k-- > 0;) {
    out.push_back(machine);
    out.back().update([&](Parameters& p) { p = stations[k]; }, context);
  }
  return out;
}

}  // namespace

void add_sampling_options(Spec& spec, SamplingOptions& options) {
  spec.count("sweeps", options.sweeps, 1, 1000000000000,
             "sweeps from the start to the sample; the first half is warm-up")
      .choice(
          "sampler", options.sampler,
          "how a sweep changes the chains (auto: gibbs, and for a neural energy mala with jumps): each layer drawn in "
          "turn; proposals that are accepted or not; steps along "
          "the forces on gaussian units, all of them taken (langevin) or accepted or not (mala, hmc); with copies at "
          "other temperatures; or cooled to states of low energy")
      .choice("inner", options.inner,
              "what tempering and annealing are made of: auto is gibbs, and mala for a machine without conditionals")
      .number("step", options.step, 1e-9, 1e9,
              "how far proposals move real units at first; warm-up adapts it, except for langevin")
      .count("flips", options.flips, 1, 1000000,
             "units that a proposal of metropolis changes at most, unless they are real")
      .count("leapfrogs", options.leapfrogs, 1, 1000000, "steps of hmc before their end is accepted or not")
      .count("temperatures", options.temperatures, 2, 1000, "levels of tempering")
      .number("hottest", options.hottest, 1e-6, 0.999999,
              "the smallest inverse temperature: the hottest level of tempering, or where annealing starts")
      .number("coldest", options.coldest, 1.0, 1e9, "the inverse temperature at which annealing ends");
}

std::string swap_text(std::span<const double> swapped) {
  if (swapped.empty()) return "";
  const auto [least, most] = std::ranges::minmax(swapped);
  return fmt::format("neighbouring levels swapped {:.1f} to {:.1f} % of the times\n", 100.0 * least, 100.0 * most);
}

void Rates::count(const StepInfo& info) {
  ++counted_;
  accepted_ += info.accepted;
  swapped_.resize(info.swapped.size());
  for (std::size_t k = 0; k < swapped_.size(); ++k) swapped_[k] += info.swapped[k];
}

std::optional<double> Rates::accepted() const {
  if (!proposes_ || counted_ == 0) return std::nullopt;
  return accepted_ / static_cast<double>(counted_);
}

std::vector<double> Rates::swapped() const {
  std::vector<double> out = swapped_;
  for (double& rate : out) rate /= static_cast<double>(counted_);
  return out;
}

SamplerKind plain_kind(const SamplingOptions& options, SamplerKind standard) {
  const bool made_of_another = options.sampler == SamplerKind::kTempering || options.sampler == SamplerKind::kAnnealing;
  if (options.sampler == SamplerKind::kAuto && options.inner == InnerKind::kAuto) return standard;
  if (!made_of_another) {
    require(options.inner == InnerKind::kAuto,
            fmt::format("--inner is for tempering and annealing, and --sampler is {}", name_of(options.sampler)));
    return options.sampler;
  }
  switch (options.inner) {
    case InnerKind::kAuto:
      return standard;
    case InnerKind::kGibbs:
      return SamplerKind::kGibbs;
    case InnerKind::kMetropolis:
      return SamplerKind::kMetropolis;
    case InnerKind::kLangevin:
      return SamplerKind::kLangevin;
    case InnerKind::kMala:
      return SamplerKind::kMala;
    case InnerKind::kHmc:
      break;
  }
  return SamplerKind::kHmc;
}

void require_forces(SamplerKind kind, const Layer& units) { require_forces(units, name_of(kind)); }

std::unique_ptr<Sampling> make_sampling(const SamplingOptions& options, const Rbm& machine, const Context& context) {
  free_sites(options.fixed, machine.visible());  // something is left to sample
  const SamplerKind kind = plain_kind(options, SamplerKind::kGibbs);
  std::vector<Rbm> levels = levels_along(machine, options.stations, context);
  if (kind != SamplerKind::kGibbs) {
    return std::make_unique<MarginalSampling>(options, kind, machine, std::move(levels), context);
  }
  return sampling_with(options, Gibbs{options.fixed}, machine, std::move(levels), context);
}

std::unique_ptr<Sampling> make_sampling(const SamplingOptions& options, const Boltzmann& machine,
                                        const Context& context) {
  free_sites(options.fixed, machine.units());
  const SamplerKind kind = plain_kind(options, SamplerKind::kGibbs);
  std::vector<Boltzmann> levels = levels_along(machine, options.stations, context);
  if (kind != SamplerKind::kGibbs) {
    return sampling_by_energy(options, kind, machine, std::move(levels), context);
  }
  return sampling_with(options, Gibbs{options.fixed}, machine, std::move(levels), context);
}

std::unique_ptr<Sampling> make_sampling(const SamplingOptions& options, const Neural& machine, const Context& context) {
  if (options.sampler == SamplerKind::kAuto && options.inner == InnerKind::kAuto && options.fixed.rows() == 0) {
    const Jumping<Langevin> kernel{{options.step, true, {}}};
    return std::make_unique<PlainSampling<Jumping<Langevin>, Neural>>(options, kernel, machine);
  }
  return make_sampling<Neural>(options, machine, context);
}

}  // namespace ergodic
