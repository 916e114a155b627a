// Points of a plane, drawn from densities that are easy to look at: what models of real numbers are tried on first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ergodic/data/dataset.hpp"

namespace ergodic {

/// Eight normal distributions of deviation 0.2 on a circle of radius 2; the label says which.
Dataset eight_gaussians(std::size_t count, std::uint8_t stream);
/// Two half circles of radius 1 that reach into each other, with normal noise of deviation 0.1; the label says which.
Dataset two_moons(std::size_t count, std::uint8_t stream);
/// Circles of radius 1 and 2, with normal noise of deviation 0.1; the label says which.
Dataset rings(std::size_t count, std::uint8_t stream);

}  // namespace ergodic
