// The clock of the reports: seconds that only grow. Tests put their own in its place.
#pragma once

#include <chrono>
#include <functional>

namespace ergodic {

using Clock = std::function<double()>;

/// Seconds since an arbitrary moment.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace ergodic
