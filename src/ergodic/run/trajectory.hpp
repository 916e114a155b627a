// A trajectory: what a machine was on its way, kept in a folder while it trains, as stations for annealing and
// levels for tempering.
//
// Machines change fast at first and slowly at last, so the updates between two of them grow.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "ergodic/model/parameters.hpp"
#include "ergodic/store/model_file.hpp"

namespace ergodic {

/// After which updates of so many a machine is kept: a few dozen, each about the same share later than the one before.
/// The last is not among them, since it is the result.
std::vector<std::uint64_t> kept_updates(std::uint64_t total);

/// Where the machine after an update goes.
std::filesystem::path station_file(const std::filesystem::path& folder, std::uint64_t update);

/// Makes the folder if there is none. UsageError if it holds machines already and the run is not resumed, IoError if it
/// cannot be made.
void prepare_trajectory(const std::filesystem::path& folder, bool resume);

/// The parameters of all machines in the folder, in the order of their updates; none if no folder is named. DataError
/// if one is not of the shape of this machine, NoInputError without any, UsageError for a neural energy.
std::vector<Parameters> stations_in(const std::filesystem::path& folder, const Machine& machine);

}  // namespace ergodic
