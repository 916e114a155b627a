// Exact sums over all states, by enumerating the smaller layer of a machine; the other layer sums in closed form.
#pragma once

#include <cstddef>
#include <optional>

#include "ergodic/core/context.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

/// How many states must be enumerated, as a power of two: those of the layer that has fewer. A two-valued unit counts
/// 1, a letter the logarithm of how many there are; real units cannot be enumerated.
double enumerated_bits(const Rbm& rbm);

/// What exact_log_z enumerates at most, minutes on one core: 30 between two-valued layers, else 22.
double most_enumerated_bits(const Rbm& rbm);
/// What exact_statistics enumerates at most: less, since it is needed once for each update.
inline constexpr double kMaxStatisticsBits = 18.0;

/// log Z, at a cost of the states of the smaller layer times the units of the larger. UsageError above
/// most_enumerated_bits. Progress counts states; nothing if stopped before the end.
std::optional<double> exact_log_z(const Rbm& rbm, const Context& context);

}  // namespace ergodic
