// Exact sums over all states, by enumerating the smaller layer of a machine; the other layer sums in closed form.
#pragma once

#include <cstddef>
#include <optional>

#include "ergodic/core/context.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

/// The largest smaller layer that exact_log_z enumerates: 2^30 states, minutes on one core.
inline constexpr std::size_t kMaxEnumeratedUnits = 30;
/// The same for exact_statistics, which is needed once for each update.
inline constexpr std::size_t kMaxStatisticsUnits = 18;

/// How many units must be enumerated: those of the smaller layer.
std::size_t enumerated_units(const Rbm& rbm);

/// log Z, at a cost of 2^smaller * larger. UsageError above kMaxEnumeratedUnits. Progress counts states; nothing if
/// stopped before the end.
std::optional<double> exact_log_z(const Rbm& rbm, const Context& context);

/// UsageError if the smaller layer is larger than exact_statistics enumerates.
void require_exact_statistics(const Rbm& rbm);

/// The model's expectation of the statistics.
Statistics exact_statistics(const Rbm& rbm, const Context& context);

}  // namespace ergodic
