// From the words after the program's name to a command and the values of its options.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ergodic/run/commands/command.hpp"

namespace ergodic::cli {

/// The options that every command has.
struct Common {
  std::optional<std::uint64_t> threads;
  bool json = false;
  bool verbose = false;
  bool quiet = false;
  std::filesystem::path config;
};
std::vector<Option> common_options();

struct ParsedLine {
  const Command* command = nullptr;  ///< null: there is only something to print
  Settings settings;                 ///< the values of its options
  Common common;
  std::string output;  ///< help, version, completion or reference, for standard output
};

/// Parses the words after the program's name. UsageError for anything that does not fit.
ParsedLine parse(const std::vector<std::string>& words, const std::vector<Command>& commands);

}  // namespace ergodic::cli
