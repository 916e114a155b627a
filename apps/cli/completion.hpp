// Completion scripts for the shells, made from the commands' options.
#pragma once

#include <string>
#include <vector>

#include "command_line.hpp"

namespace ergodic::cli {

/// UsageError for a shell other than bash, zsh or fish.
std::string completion_script(const std::string& shell, const std::vector<Command>& commands);

}  // namespace ergodic::cli
