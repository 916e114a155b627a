// Persistent chains by parallel tempering (Desjardins, Courville, Bengio, Vincent and Delalleau 2010; Cho, Raiko and
// Ilin 2010): each chain has copies at other temperatures, which go on from update to update too, and neighbours swap
// after each sweep (sampler/tempering.hpp). The machines of the ladder lie between the one that learns and what it was
// when its chains began, which is next to one of independent units with the means of the data:
//   theta_k = theta_1 + (1 - beta_k) (theta_0 - theta_1),   1 = beta_1 > ... > beta_K = 0.
// For energies linear in the parameters E_k = E_0 + beta_k D with D = E_1 - E_0, so the exponent of a swap is
// (beta_i - beta_j)(D(x_i) - D(x_j)). The ladder adapts after each sweep, since the machine never stops to change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ergodic/sampler/tempering.hpp"
#include "ergodic/trainer/persistent_chains.hpp"

namespace ergodic {

/// A simulator as the sampler of a level.
struct Simulated {};
inline StepInfo step(Simulated, const Simulator& model, Chains& chains, Key key, const Context& context) {
  model.sweep(chains, key, context);
  return {};
}

/// The machines of a ladder, the first of which is the model itself.
class TwinLadder {
 public:
  /// For chains of so many layers at each level. UsageError if energies are not linear in the parameters.
  TwinLadder(const Simulator& model, std::size_t levels, std::size_t layers);

  std::size_t levels() const { return twins_.size() + 1; }
  std::size_t layers() const { return layers_; }
  std::size_t most_levels() const { return levels(); }
  const Simulator& level(std::size_t k) const { return k == 0 ? *model_ : twins_[k - 1]->simulator(); }
  std::span<const double> betas() const { return betas_; }

  /// Puts the levels between the parameters `origin` and those of the model as they are now.
  void place(const Simulator& model, std::span<const float> betas, std::span<const float> origin,
             const Context& context);
  /// As exponents_of_swaps has them, of the differences D.
  Matrix<double> swap_exponents(const Chains& chains, const Context& context) const;

 private:
  const Simulator* model_;
  std::size_t layers_;
  std::vector<std::unique_ptr<Twin>> twins_;  // all levels but the first
  std::unique_ptr<Twin> difference_;          // whose energy is D
  std::vector<double> betas_;
};

class TemperedChains : public PersistentChains {
 public:
  static constexpr std::size_t kLevels = 10;  ///< if nothing is said

  /// For chains of the model alone.
  TemperedChains(Sweeps sweeps, Chains chains, const Simulator& model, std::size_t levels);

  ModelTerm advance(const Simulator& model, const Chains& data, std::uint64_t update, Key key,
                    const Context& context) override;

  /// least_swapped   the least share of chains, on average, that two neighbours of the ladder would have swapped last
  Measures measures() const override;
  std::span<float> memory() override { return memory_; }

 private:
  std::span<float> betas() { return std::span(memory_).first(ladder_.levels()); }

  TwinLadder ladder_;
  Tempered<Simulated> kernel_;
  std::vector<double> swapped_;  // how often neighbours have swapped last
  std::vector<float> memory_;    // the betas, then theta_0
};

}  // namespace ergodic
