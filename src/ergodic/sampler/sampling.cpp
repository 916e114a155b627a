#include "ergodic/sampler/sampling.hpp"

#include <fmt/format.h>

namespace ergodic {
namespace {

/// auto, then all of the list, then these.
std::vector<Choice> choices_with(const char* automatic, std::vector<Choice> others) {
  std::vector<Choice> out{{std::string(kAutoSampler), automatic}};
  any_sampler([&](const auto& row) {
    out.push_back({std::string(row.kName), std::string(row.kHelp)});
    return false;
  });
  out.insert(out.end(), others.begin(), others.end());
  return out;
}

Spec<SamplingOptions> make_spec() {
  Spec<SamplingOptions> spec;
  spec.group("Sampling")
      .add("sweeps", &SamplingOptions::sweeps, "sweeps from the start to the first sample; the first half is warm-up")
      .range(1, 1e12)
      .add("draws", &SamplingOptions::draws, "samples of each chain, the first after --sweeps")
      .range(1, 1e9)
      .add("every", &SamplingOptions::every, "sweeps from one sample of a chain to the next")
      .range(1, 1e9)
      .add("sampler", &SamplingOptions::sampler, "how a sweep changes the chains")
      .choices(choices_with("gibbs, or jumping for a neural energy",
                            {{std::string(kTempering), "parallel tempering: copies at other temperatures that swap"},
                             {std::string(kAnnealing), "simulated annealing, to states of low energy"}}))
      .add("inner", &SamplingOptions::inner, "the sampler that tempering and annealing are made of")
      .choices(choices_with("gibbs, or mala for a machine without conditionals", {}))
      .advanced()
      .add(
          "step", [](auto& o) -> auto& { return o.kernel.step; },
          "how far proposals move real units at first; warm-up adapts it, except for langevin")
      .range(1e-9, 1e9)
      .advanced()
      .add(
          "flips", [](auto& o) -> auto& { return o.kernel.flips; },
          "most units that a proposal of metropolis changes, unless they are real")
      .range(1, 1000000)
      .advanced()
      .add(
          "leapfrogs", [](auto& o) -> auto& { return o.kernel.leapfrogs; },
          "leapfrog steps of hmc before their end is accepted or not")
      .range(1, 1000000)
      .advanced()
      .add("temperatures", &SamplingOptions::levels, "levels of tempering")
      .range(2, 1000)
      .advanced()
      .add("hottest", &SamplingOptions::hottest,
           "the smallest inverse temperature: the hottest level of tempering, or where annealing starts")
      .range(1e-6, 0.999999)
      .advanced()
      .add("coldest", &SamplingOptions::coldest, "the inverse temperature at which annealing ends")
      .range(1.0, 1e9)
      .advanced();
  return spec;
}

}  // namespace

const Spec<SamplingOptions>& sampling_spec() {
  static const Spec<SamplingOptions> spec = make_spec();
  return spec;
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

std::string plain_sampler(const SamplingOptions& options, std::string_view otherwise) {
  const bool made_of_another = options.sampler == kTempering || options.sampler == kAnnealing;
  require(made_of_another || options.inner == kAutoSampler,
          fmt::format("--inner is for tempering and annealing, and --sampler is {}", options.sampler));
  const std::string& name = made_of_another ? options.inner : options.sampler;
  return name == kAutoSampler ? std::string(otherwise) : name;
}

void refuse_sampler(const std::string& name, bool follows_forces, const Layer& units) {
  if (name == GibbsRow::kName) {
    throw UsageError(
        "gibbs draws units given the others, for which this machine has no formula; take metropolis, langevin, mala "
        "or hmc");
  }
  if (name == JumpingRow::kName)
    throw UsageError(
        "jumping is for neural energies at temperature 1, which have a bowl to jump from; take mala or hmc");
  if (follows_forces) require_forces(units, name);
  throw UsageError(fmt::format("{} does not serve this machine; take gibbs or metropolis", name));
}

}  // namespace ergodic
