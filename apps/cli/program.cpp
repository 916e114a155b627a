// `ergodic`: a thin listener on run/. Data goes to standard output, everything else to standard error.
#include "program.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/core/stopped.hpp"
#include "ergodic/report/progress.hpp"
#include "ergodic/run/environment.hpp"

namespace ergodic::cli {
namespace {

// As sysexits.h has them; docs/command.md lists them.
enum ExitCode { kOk = 0, kUsage = 2, kBadData = 65, kNoInput = 66, kInternal = 70, kIo = 74, kSignal = 128 };

std::atomic<bool> stop_flag = false;
std::atomic<int> caught_signal = 0;

/// The first signal asks the computation to stop where nothing is lost; a second one ends the program at once.
void on_signal(int signal) {
  stop_flag = true;
  caught_signal = signal;
}

/// A closed standard stream would hand its number to the first file opened; take it first. Writing there still fails.
void occupy_standard_streams() {
  int opened = 0;
  do opened = ::open("/dev/null", O_RDONLY);
  while (opened >= 0 && opened <= STDERR_FILENO);
  if (opened >= 0) ::close(opened);
}

void listen_for_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction inherited = {};
    sigaction(signal, nullptr, &inherited);
    if (inherited.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);  // nohup stays in force
  }
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is no reason to lose a run
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond its limit is an error of writing, which leaves nothing half done
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw IoError("cannot write to standard output");
  }
}

int execute(const ParsedLine& line) {
  ProgressOptions options;
  options.live = isatty(STDERR_FILENO) != 0;
  options.quiet = line.common.quiet;
  options.stop = &stop_flag;
  ProgressReporter reporter(options);
  Threads threads(line.common.threads.value_or(0));
  const Outcome outcome = line.command->run(line.settings, line.common.json, Context{&threads, &reporter});
  reporter.finish();
  print(outcome.output);
  if (!line.common.quiet) std::fputs(outcome.message.c_str(), stderr);
  if (line.common.verbose) std::fputs(outcome.details.c_str(), stderr);
  return outcome.stopped ? kSignal + caught_signal.load() : kOk;
}

int guarded_main(const std::vector<std::string>& words) {
  apply_environment();
  const std::vector<Command> commands = all_commands();
  const ParsedLine line = parse(words, commands);
  if (line.command) return execute(line);
  print(line.output);
  return kOk;
}

/// Says it on standard error. What a message quotes of a file may be long, or be meant for the terminal: it is cut, and
/// control characters become spaces. Allocates nothing: there may be no memory left.
int fail(ExitCode code, const char* message, const char* before = "") {
  static char line[4000];
  const int size = std::snprintf(line, sizeof line, "ergodic: %s%s", before, message);
  unsigned char last = 0;
  for (char* c = line; *c != '\0'; ++c) {
    const auto here = static_cast<unsigned char>(*c);
    const bool second_set = last == 0xC2 && here >= 0x80 && here < 0xA0;  // U+0080 to U+009F in UTF-8
    if ((here < 0x20 && here != '\n') || here == 0x7F) *c = ' ';
    if (second_set) c[-1] = *c = ' ';
    last = here;
  }
  std::fprintf(stderr, "%s%s\n", line, size < static_cast<int>(sizeof line) ? "" : "...");
  return code;
}

}  // namespace

int run(int argc, char** argv) {
  occupy_standard_streams();
  listen_for_signals();
  try {
    return guarded_main({argv + 1, argv + argc});
  } catch (const Stopped& e) {
    return fail(static_cast<ExitCode>(kSignal + caught_signal.load()), e.what());
  } catch (const UsageError& e) {
    return fail(kUsage, e.what());
  } catch (const DataError& e) {
    return fail(kBadData, e.what());
  } catch (const NoInputError& e) {
    return fail(kNoInput, e.what());
  } catch (const IoError& e) {
    return fail(kIo, e.what());
  } catch (const NumericError& e) {
    return fail(kBadData, e.what());
  } catch (const std::bad_alloc&) {
    return fail(kInternal, "not enough memory");
  } catch (const std::exception& e) {
    return fail(kInternal, e.what(), "internal error: ");
  }
}

}  // namespace ergodic::cli
