// Fanout: one observer that is many. A run has a progress line, a log and perhaps a browser listening at once.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ergodic/core/context.hpp"

namespace ergodic {

/// Sends every call to each listener, in the order given. The listeners outlive it.
class Fanout : public Observer {
 public:
  explicit Fanout(std::vector<Observer*> listeners) : listeners_(std::move(listeners)) {}

  void stage(const Stage& stage) override {
    for (Observer* listener : listeners_) listener->stage(stage);
  }
  void progress(const Progress& progress) override {
    for (Observer* listener : listeners_) listener->progress(progress);
  }
  void record(const Record& record) override {
    for (Observer* listener : listeners_) listener->record(record);
  }
  void warn(const std::string& message) override {
    for (Observer* listener : listeners_) listener->warn(message);
  }
  void note(const std::string& message) override {
    for (Observer* listener : listeners_) listener->note(message);
  }
  /// True if any listener asks to stop; every one is asked.
  bool stop_requested() override {
    bool stop = false;
    for (Observer* listener : listeners_) stop = listener->stop_requested() || stop;
    return stop;
  }

 private:
  std::vector<Observer*> listeners_;
};

}  // namespace ergodic
