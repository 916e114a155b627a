// The command `ergodic` as a function, so that a program with a machine or a method of its own is the same command with
// one row more.
#pragma once

namespace ergodic::cli {

/// What main does: parses, runs, prints, and returns the exit code.
int run(int argc, char** argv);

}  // namespace ergodic::cli
