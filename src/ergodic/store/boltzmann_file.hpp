// Boltzmann machines on graphs as tensors, in the layout of docs/format.md: a coupling for each edge, and the edges
// unless every unit, or every site, is coupled with every other.
#pragma once

#include <string>
#include <string_view>

#include "ergodic/format/safetensors.hpp"
#include "ergodic/model/boltzmann.hpp"

namespace ergodic {

/// What the metadata says of such a machine, beside what all model files say.
inline constexpr std::string_view kBoltzmannKeys[] = {"units", "letters", "visible_units", "graph"};

/// Adds the machine to tensors and metadata.
void put_boltzmann(Tensors& tensors, const Boltzmann& machine);

/// DataError if anything is missing, of another shape, not finite, or no graph. Programs that have no list of edges may
/// write all couplings as a square `matrix`, symmetric with a zero diagonal.
Boltzmann boltzmann_from(const Tensors& tensors, const std::string& where);

}  // namespace ergodic
