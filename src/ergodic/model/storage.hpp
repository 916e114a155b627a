// Storage rules: from patterns to the couplings of a Hopfield network that remembers them. For P patterns of N units:
//   Hebb            W = 1/N sum over patterns of p p'                                     (Hopfield 1982)
//   Storkey         one pattern after the other, what the fields already say taken off    (Storkey and Valiant 1999)
//   pseudo-inverse  W = the projection onto the space that the patterns span              (Personnaz and others 1986)
// each with the diagonal set to zero.
#pragma once

#include <cstddef>
#include <optional>

#include "ergodic/core/context.hpp"
#include "ergodic/model/hopfield.hpp"

namespace ergodic {

enum class StorageRule { kHebb, kStorkey, kPseudoInverse };

struct Storage {
  StorageRule rule = StorageRule::kHebb;
  /// Biases are the couplings to one more unit, which is +1 in every pattern; without them they are zero, and the
  /// negative of each memory is a memory too.
  bool bias = false;
};

/// The network that remembers these patterns, a row of +-1 each. The patterns of the pseudo-inverse may depend on each
/// other linearly. Progress counts patterns; nothing if stopped before the end.
std::optional<Hopfield> store(const Storage& storage, const State& patterns, const Context& context);

/// The load P/N up to which random patterns are remembered when N is large: 0.138 with few errors for Hebb (Amit,
/// Gutfreund and Sompolinsky 1985), 1/sqrt(2 ln N) without any for Storkey (Storkey 1997), and 1 - 1/N for the
/// pseudo-inverse, because N independent patterns span everything.
double capacity_of(StorageRule rule, std::size_t units);

}  // namespace ergodic
