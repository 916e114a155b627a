#include "ergodic/run/environment.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "ergodic/core/version.hpp"
#include "ergodic/kernels/target.hpp"

namespace ergodic {

void apply_environment() {
  if (const char* target = std::getenv("ERGODIC_TARGET")) use_target(target);
}

std::string version_text() { return fmt::format("{} ({})", kVersion, active_target()); }

}  // namespace ergodic
