// What every front end takes from its surroundings and says about itself.
#pragma once

#include <string>

namespace ergodic {

/// Obeys the environment: ERGODIC_TARGET names the instruction set to use. UsageError if the CPU has no such one.
void apply_environment();

/// Version and instruction set in use: "0.1.0 (avx2)".
std::string version_text();

}  // namespace ergodic
