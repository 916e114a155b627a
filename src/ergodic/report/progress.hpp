// ProgressReporter: what a person sees of a run, on a terminal or in a file that collects its messages.
//
// Each record leaves a permanent line: a row of a table on a terminal, name=value elsewhere. On a terminal a live line
// below the records shows how far the run has come and when it will end; elsewhere a plain line says so when no record
// came for half a minute.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "ergodic/core/clock.hpp"
#include "ergodic/core/context.hpp"

namespace ergodic {

struct ProgressOptions {
  std::FILE* out = stderr;
  bool live = false;                        ///< out is a terminal: keep one line that is drawn again and again
  bool quiet = false;                       ///< only warnings
  std::size_t width = 0;                    ///< columns of the live line; 0: ask the terminal, 80 if it does not say
  const std::atomic<bool>* stop = nullptr;  ///< what stop_requested answers; null: never
  Clock clock = steady_seconds;
};

class ProgressReporter : public Observer {
 public:
  explicit ProgressReporter(ProgressOptions options);
  ~ProgressReporter() override;
  ProgressReporter(const ProgressReporter&) = delete;
  ProgressReporter& operator=(const ProgressReporter&) = delete;

  void stage(const Stage& stage) override;
  void progress(const Progress& progress) override;
  void record(const Record& record) override;
  void warn(const std::string& message) override;
  void note(const std::string& message) override;
  bool stop_requested() override;

  /// Erases the live line, so that others may write. The next progress draws it again.
  void finish();

 private:
  /// Units per second, smoothed over the last few seconds.
  struct Rate {
    double since = 0.0;
    std::uint64_t done = 0;
    double per_second = 0.0;

    void restart(double now, std::uint64_t done_now);
    void sample(double now, std::uint64_t done_now);
  };

  std::vector<std::string> progress_fields() const;
  std::string stamped(const std::string& text) const;
  std::string live_line() const;
  std::size_t width() const;
  std::string plain_row(const Record& record) const;
  void print_table_row(const Record& record);
  void draw_live();
  void print_line(const std::string& line);

  ProgressOptions options_;
  double started_;
  double line_at_;     // when the last permanent line was printed
  double sampled_at_;  // when the live line or the rate was last brought up to date
  bool live_shown_ = false;
  bool working_ = false;  // a progress has been reported
  Stage stage_{"", "updates"};
  Progress latest_;
  Rate rate_;
  std::vector<std::string> monitors_;                  // of the last record, as name=value
  std::vector<std::vector<std::string>> table_heads_;  // of the table on the terminal
};

}  // namespace ergodic
