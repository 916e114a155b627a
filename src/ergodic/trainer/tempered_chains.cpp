#include "ergodic/trainer/tempered_chains.hpp"

#include <algorithm>

#include "ergodic/core/error.hpp"
#include "ergodic/trainer/methods.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 14;  // parameters that one thread takes at a time
constexpr std::uint64_t kLastGain = 99;               // 1/10: the ladder follows a machine that goes on changing

/// now + share (origin - now).
void set_between(std::span<const float> now, std::span<const float> origin, float share, Twin& twin,
                 const Context& context) {
  const auto mix = [&](std::span<float> values) {
    context.for_blocks(values.size(), kBlock, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) values[k] = now[k] + share * (origin[k] - now[k]);
    });
  };
  twin.update(std::cref(mix), context);
}

void set_difference(std::span<const float> now, std::span<const float> origin, Twin& twin, const Context& context) {
  const auto subtract = [&](std::span<float> values) {
    context.for_blocks(values.size(), kBlock, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) values[k] = now[k] - origin[k];
    });
  };
  twin.update(std::cref(subtract), context);
}

}  // namespace

TwinLadder::TwinLadder(const Simulator& model, std::size_t levels, std::size_t layers)
    : model_(&model), layers_(layers) {
  require(model.linear(),
          "tempering needs an energy that is linear in the parameters, as without real units; take pcd or population");
  for (std::size_t k = 1; k < levels; ++k) twins_.push_back(model.twin());
  difference_ = model.twin();
}

void TwinLadder::place(const Simulator& model, std::span<const float> betas, std::span<const float> origin,
                       const Context& context) {
  model_ = &model;
  betas_.assign(betas.begin(), betas.end());
  const std::span<const float> now = model.parameters();
  for (std::size_t k = 1; k < betas.size(); ++k) set_between(now, origin, 1.0f - betas[k], *twins_[k - 1], context);
  set_difference(now, origin, *difference_, context);
}

Matrix<double> TwinLadder::swap_exponents(const Chains& chains, const Context& context) const {
  return exponents_of_swaps(betas_, [&](std::size_t k) {
    return difference_->simulator().energies(layers_at(k, levels(), chains.layers), context);
  });
}

TemperedChains::TemperedChains(Sweeps sweeps, Chains chains, const Simulator& model, std::size_t levels)
    : PersistentChains(sweeps, std::move(chains)),
      ladder_(model, levels, chains_.layers.size()),
      kernel_{std::vector<Simulated>(levels)} {
  start_levels(levels * chains_.layers.size(), chains_);
  for (std::size_t k = 0; k < levels; ++k) {
    memory_.push_back(static_cast<float>(levels - 1 - k) / static_cast<float>(levels - 1));
  }
  const std::span<const float> origin = model.parameters();
  memory_.insert(memory_.end(), origin.begin(), origin.end());
}

/// The ladder stands while the machine does: its levels are made anew for each update, not for each sweep.
ModelTerm TemperedChains::advance(const Simulator& model, const Chains&, std::uint64_t update, Key key,
                                  const Context& context) {
  ladder_.place(model, betas(), std::span(memory_).subspan(ladder_.levels()), context);
  std::vector<double> moved(betas().begin(), betas().end());
  for (std::uint64_t s = 0; s < sweeps_.at(update); ++s) {
    const std::uint64_t sweep = chains_.sweep;
    swapped_ = step(kernel_, ladder_, chains_, key, context).swapped;
    moved = adapted_ladder(moved, swapped_, std::min(sweep, kLastGain));
  }
  std::ranges::transform(moved, betas().begin(), [](double beta) { return static_cast<float>(beta); });
  return &chains_;
}

Measures TemperedChains::measures() const {
  return {{"least_swapped", swapped_.empty() ? 1.0 : *std::ranges::min_element(swapped_)}};
}

const Method kTemperedChains{"tempering", "persistent chains with copies at other temperatures, which swap",
                             [](const Simulator& model, const TrainOptions& options, Key key,
                                const Context& context) -> std::unique_ptr<NegativePhase> {
                               return std::make_unique<TemperedChains>(
                                   Sweeps(options), model.start(*options.chains, key, context), model,
                                   options.levels.value_or(TemperedChains::kLevels));
                             },
                             true};

}  // namespace ergodic
