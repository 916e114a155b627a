// Command: one command as data: its name, its options and what it does with their values. The command line, its help,
// completion and reference are made from the list; other front ends may use it too.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/option/option.hpp"

namespace ergodic {

/// What a command leaves behind for a terminal.
struct Outcome {
  std::string output;        ///< for standard output: JSON if asked for, else text
  std::string message;       ///< for standard error
  bool stopped = false;      ///< the work was interrupted
  std::string details = {};  ///< for standard error, if more than the message is wanted
};

struct Command {
  std::string name;     ///< "train", or "data get"
  std::string summary;  ///< one line
  std::string example;  ///< a command line that works
  /// Its options for a kind of machine; for all kinds together if the name is empty. Most commands have the same for
  /// all.
  std::function<std::vector<Option>(std::string_view kind)> options;
  std::function<Outcome(const Settings& settings, bool json, const Context& context)> run;
};

/// All commands, in the order of their help.
std::vector<Command> all_commands();

/// The kind of machine that values of --model ask for; empty for commands without that option.
std::string kind_asked_for(const Command& command, const std::string& model);

/// The values that these texts give the options of a command, by name. UsageError for unknown options, for those that
/// belong to other kinds of machine, for texts that will not do, and for required options that are missing.
Settings settings_from(const Command& command, const std::map<std::string, std::string>& texts);

// One for each command, in the file of its name.
Command train_command();
Command evaluate_command();
Command sample_command();
Command score_command();
Command features_command();
Command complete_command();
Command compare_command();
Command compare_runs_command();
Command reconstruct_command();
Command recall_command();
Command inspect_command();
Command classify_fit_command();
Command classify_predict_command();
Command classify_evaluate_command();
Command data_list_command();
Command data_get_command();
Command data_show_command();

}  // namespace ergodic
