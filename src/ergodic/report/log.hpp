// The log of a run: one JSON object on a line for each record, so that any tool can draw the learning curve.
//
//     {"update":600,"epoch":1.0,"seconds":2.31,"reconstruction_error":0.0412}
//
// A number that is not finite is written as null. Each line is handed to the system at once: a killed run keeps its
// rows.
#pragma once

#include <compare>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ergodic/core/clock.hpp"
#include "ergodic/core/context.hpp"

namespace ergodic {

/// How far a run has come that may go back after it diverged, each time with a row in which "rescues" has their number.
struct LogPlace {
  std::uint64_t rescues = 0;
  std::uint64_t update = 0;

  auto operator<=>(const LogPlace&) const = default;
};

/// A record in a log, and the time that training had taken by then.
struct LoggedRecord {
  Record record;
  double seconds = 0.0;
};

struct LoggedRun {
  std::vector<LoggedRecord> records;  ///< without those that the run went back behind
  std::uint64_t rescues = 0;
  std::string fault;  ///< where and why reading ended before the end of the file; empty if it did not
};

/// What a log tells, up to the first line that is none of a log: a run that was killed may leave a torn one. DataError
/// if that is the first line already, unless the file is empty.
LoggedRun read_log(const std::filesystem::path& path);

class JsonLog : public Observer {
 public:
  /// Without keep_up_to the log starts empty. With it (the place of the checkpoint that is resumed) the rows up to
  /// there stay; later ones, of a run that was killed after its checkpoint, are dropped because the resumed run
  /// writes them again, and so is a torn last line. IoError if the file cannot be written, DataError if it is not a
  /// log.
  explicit JsonLog(std::filesystem::path path, std::optional<LogPlace> keep_up_to = std::nullopt,
                   Clock clock = steady_seconds);

  /// Appends a row. IoError if it cannot be written, as on a full disk.
  void record(const Record& record) override;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::filesystem::path path_;
  Clock clock_;
  double seconds_before_ = 0.0;  // what the kept rows had reached
  double started_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace ergodic
