// Recall: a Hopfield network at zero temperature, from a damaged state down to a memory.
//
// One unit after the other (Hopfield 1982), each following its field, only lowers the energy: the state comes to rest.
// All units at once may also end in a cycle of two states (Goles and Olivos 1981).
#pragma once

#include <cstdint>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/model/hopfield.hpp"

namespace ergodic {

enum class UpdateOrder {
  kRandom,       ///< one unit after the other, in a new random order each sweep
  kSynchronous,  ///< all units at once
};

struct RecallOptions {
  UpdateOrder order = UpdateOrder::kRandom;
  std::uint64_t sweeps = 100;  ///< at most
};

/// How the recall of a row ended.
enum class Ending {
  kAtRest,  ///< the last sweep changed nothing
  kCycle,   ///< two states follow each other for ever
  kLimit,   ///< as many sweeps as allowed, and still moving
};

/// The way of one row.
struct RecallPath {
  std::vector<double> energies;  ///< at the start, and after each sweep
  Ending ending = Ending::kLimit;

  std::uint64_t sweeps() const { return energies.size() - 1; }
};

struct Recalled {
  State rows;
  std::vector<RecallPath> paths;
};

/// Lets each row of +-1 states run. A field that is zero within its rounding error moves nothing, so that what moves
/// has surely lowered the energy. Row r draws the random numbers of row first_row + r.
Recalled recall(const RecallOptions& options, const Hopfield& network, const State& rows, std::uint64_t first_row,
                Key key, const Context& context);

/// How many of the rows are at rest from the start.
std::size_t count_stable(const Hopfield& network, const State& rows, const Context& context);

}  // namespace ergodic
