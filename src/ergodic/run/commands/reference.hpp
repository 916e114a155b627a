// All commands and their options, for people and for programs.
#pragma once

#include <span>
#include <string>

#include "ergodic/run/commands/command.hpp"

namespace ergodic {

/// Markdown: the tables of docs/command.md. `common` are the options of every command.
std::string reference_page(std::span<const Command> commands, std::span<const Option> common);

/// JSON from which a signature or a form can be made: types, ranges, defaults, choices with their help, roles of paths;
/// for each kind of machine the options that it takes.
std::string reference_json(std::span<const Command> commands, std::span<const Option> common);

}  // namespace ergodic
