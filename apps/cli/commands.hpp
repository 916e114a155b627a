// The commands of `ergodic`: for each its name, its options and what it does. Help, completion and reference are made
// from this list.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/run/spec.hpp"

namespace ergodic::cli {

/// The options that every command has.
struct Common {
  std::uint64_t threads = 0;
  bool json = false;
  bool quiet = false;
  std::filesystem::path config;

  void describe(Spec& spec);
};

/// What a command leaves behind for the terminal.
struct Outcome {
  std::string output;    ///< for standard output
  std::string message;   ///< for standard error
  bool stopped = false;  ///< the work was interrupted
};

struct Command {
  std::string name;     ///< "train", or "data get"
  std::string summary;  ///< one line
  std::string example;  ///< a command line that works
  std::string unit;     ///< what its progress counts
  Spec spec;
  std::shared_ptr<Common> common;
  std::function<Outcome(const Context&)> run;
};

std::vector<Command> make_commands();

}  // namespace ergodic::cli
