// What --help prints, made from the commands' options.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ergodic/run/commands/command.hpp"

namespace ergodic::cli {

/// The help of the whole, or of the commands that begin with `first`, such as "data".
std::string help_of_all(std::span<const Command> commands, std::string_view first = "");

/// The help of one command with these options: those that must be given in the usage, those that are seldom needed
/// last.
std::string help_of(const Command& command, const std::vector<Option>& options);

}  // namespace ergodic::cli
