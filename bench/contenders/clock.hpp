// Time, and the frequency that turns it into cycles.
#pragma once

#include <chrono>

namespace bench {

/// Counts only while it runs.
class Stopwatch {
 public:
  void start() { started_ = Clock::now(); }
  void stop() { total_ += Clock::now() - started_; }
  double seconds() const { return std::chrono::duration<double>(total_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point started_;
  Clock::duration total_{};
};

/// The cycles that this core does in a second, now: timed on additions that wait for each other, a cycle each. The time
/// stamp counter would not tell, because it ticks at its own rate. Takes some milliseconds.
double core_hertz();

}  // namespace bench
