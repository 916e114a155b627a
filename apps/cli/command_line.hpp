// From argv to a command whose options are set; CLI11 is known only here.
#pragma once

#include <string>
#include <vector>

#include "commands.hpp"

namespace ergodic::cli {

struct ParsedLine {
  Command* command = nullptr;  ///< null: there is only something to print
  std::string output;          ///< help, version, completion or reference, for standard output
};

/// Parses the words after the program's name. UsageError for anything that does not fit.
ParsedLine parse(const std::vector<std::string>& words, std::vector<Command>& commands);

}  // namespace ergodic::cli
