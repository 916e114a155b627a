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

#include "ergodic/core/clock.hpp"
#include "ergodic/core/context.hpp"

namespace ergodic {

/// How far a run has come that may go back after it diverged, each time with a row in which "rescues" has their number.
struct LogPlace {
  std::uint64_t rescues = 0;
  std::uint64_t update = 0;

  auto operator<=>(const LogPlace&) const = default;
};

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
