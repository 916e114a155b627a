// The reference of all commands and options as Markdown: the tables in docs/command.md.
#pragma once

#include <string>
#include <vector>

#include "commands.hpp"

namespace ergodic::cli {

std::string reference_page(const std::vector<Command>& commands);

}  // namespace ergodic::cli
