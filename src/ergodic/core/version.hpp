// The version of the project, in one place; CMake reads it from here.
#pragma once

namespace ergodic {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace ergodic
