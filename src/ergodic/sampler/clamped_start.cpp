#include "ergodic/sampler/clamped_start.hpp"

#include "ergodic/sampler/gibbs.hpp"

namespace ergodic {

Chains clamped_start(const DeepBoltzmann& model, const State& visible, Key key, const Context& context) {
  constexpr std::uint8_t kStream = 4;  // of clamped rows: others have those before
  const Words words = key.at(Purpose::kClamped, 0, kStream).words(0, 0);
  const Key own{words[0] | (std::uint64_t{words[1]} << 32)};
  Chains out = independent_start(model, visible.chains(), own, context);
  Bits seen(1, visible.units());
  for (std::size_t i = 0; i < seen.cols(); ++i) seen.set(0, i, true);
  const Gibbs kernel{model.mask_of(seen)};
  const std::span<const std::uint64_t> mask = kernel.fixed.row(0);
  const State rows = model.with_room(visible);
  for (std::size_t r = 0; r < visible.chains(); ++r) {
    const std::span<std::uint64_t> now = out.layers[0].bits().row(r);
    const std::span<const std::uint64_t> given = rows.bits().row(r);
    for (std::size_t w = 0; w < now.size(); ++w) now[w] = (now[w] & ~mask[w]) | given[w];
  }
  // The odd layers first, since those that there are know nothing of the rows.
  model.resample(Rbm::kHidden, out.layers, own.at(Purpose::kInitialChains, 1), 0, context);
  for (std::size_t s = 0; s < kClampedSweeps; ++s) step(kernel, model, out, own, context);
  out.sweep = 0;
  return out;
}

}  // namespace ergodic
