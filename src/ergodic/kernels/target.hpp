// The instruction set in use. Every kernel gives the same bits on all of them; only the speed differs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ergodic {

/// The targets that this program and this CPU both have, the best first; the last is "plain", the definition itself.
std::vector<std::string> available_targets();

/// The target that kernels run on: the best there is, unless use_target chose another.
std::string active_target();

/// Makes all kernels run on one of the available targets. UsageError names them if it is another. Not while a kernel
/// runs.
void use_target(std::string_view name);

/// Whether the definition itself runs, without tables or vectors.
bool plain_target();

}  // namespace ergodic
