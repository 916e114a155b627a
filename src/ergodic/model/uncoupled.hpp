// Units drawn as if nothing coupled them: where chains start when there is no data to start at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ergodic/core/random.hpp"
#include "ergodic/kernels/state.hpp"
#include "ergodic/model/layer.hpp"

namespace ergodic {

/// A row for each of `count` chains from first_chain on, each unit drawn from its bias alone.
State draw_uncoupled(const Layer& layer, std::span<const float> bias, const Precision& precision, std::size_t count,
                     const Draw& draw, std::uint64_t first_chain);

}  // namespace ergodic
