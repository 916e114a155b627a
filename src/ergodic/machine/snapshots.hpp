// Snapshots of a machine during training, in a folder: stations for annealing and levels for tempering.
//
// A machine changes fast at first and slowly at last, so the updates between two snapshots grow.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "ergodic/machine/machine.hpp"
#include "ergodic/model/parameters.hpp"

namespace ergodic {

/// After which of so many updates a snapshot is taken: a few dozen, each about the same factor later than the one
/// before. The last update is not among them, since it is the result.
std::vector<std::uint64_t> snapshot_updates(std::uint64_t total);

/// The file of the snapshot after an update.
std::filesystem::path snapshot_file(const std::filesystem::path& folder, std::uint64_t update);

/// Makes the folder if there is none. UsageError if it holds snapshots already and the run is not resumed, IoError if
/// it cannot be made.
void prepare_snapshots(const std::filesystem::path& folder, bool resume);

/// The parameters of all snapshots in the folder, in the order of their updates; none if no folder is named. DataError
/// if one is not of the shape of this machine, NoInputError without any, UsageError if the machine takes none.
std::vector<Parameters> read_snapshots(const std::filesystem::path& folder, const Machine& machine);

}  // namespace ergodic
