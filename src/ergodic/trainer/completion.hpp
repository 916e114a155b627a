// Completion: what stands for the values that the data does not have, missing entries of rows and hidden units of a
// machine on a graph.
//
// They are drawn given what is known, by sweeps in which the known units stay. Each row keeps its draws until its turn
// comes again, so that they follow the machine as persistent chains do: the data's side of the gradient is then an
// average over p(unknown | known), as maximum likelihood asks for, and nothing is filled in by a guess.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "ergodic/core/bits.hpp"
#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/kernels/state.hpp"
#include "ergodic/sampler/chains.hpp"
#include "ergodic/sampler/gibbs.hpp"

namespace ergodic {

/// Chains of the data's side have numbers of their own, beyond those of the model's.
inline constexpr std::uint64_t kFirstDataChain = std::uint64_t{1} << 31;

class Completion {
 public:
  /// Nothing is missing.
  Completion() = default;
  /// For data whose units are the first of a machine's; `draws`, a row for each row of data, has all units of the
  /// machine, and is what to begin with. The data must outlive this.
  Completion(const Dataset& data, State draws);

  bool needed() const { return draws_.chains() > 0; }

  /// The chosen rows with the last draws of what is not known, and where they are known.
  State gather(std::span<const std::uint32_t> rows, Key key, std::uint64_t epoch, Bits& known) const;
  /// Keeps new draws of these rows.
  void keep(std::span<const std::uint32_t> rows, const State& drawn);

  const State& draws() const { return draws_; }
  void restore(State draws) { draws_ = std::move(draws); }

 private:
  const Dataset* data_ = nullptr;
  State draws_;
};

/// Draws what is not known in the first layer of these chains, and all other layers, by so many sweeps.
template <GibbsModel Model>
void complete(const Model& model, const Bits& known, std::size_t sweeps, Chains& chains, Key key,
              const Context& context) {
  const Gibbs given_known{known};
  chains.first_chain = kFirstDataChain;
  for (std::size_t s = 0; s < sweeps; ++s) step(given_known, model, chains, key, context);
}

}  // namespace ergodic
