// PartOfWhole: the listener of one part of a long computation. What the part reports as its own progress is progress of
// the whole, from one share of the work to another; so a bar never goes back, and the time left is that of the whole.
//
//   context.progress of the part: 0 ... its total   ->   context.progress of the whole: from ... to
#pragma once

#include <cstdint>
#include <string>

#include "ergodic/core/context.hpp"

namespace ergodic {

class PartOfWhole : public Observer {
 public:
  /// The part of the work that goes from one share, in [0, 1], to another. The context outlives it.
  PartOfWhole(const Context& whole, double from, double to) : whole_(whole), from_(from), to_(to) {}

  /// For the part: the context of the whole, but with this as its listener.
  Context context() { return {whole_.threads, this, whole_.profile}; }
  /// Says that a share of the part is done, where it counts nothing itself.
  void done(double share);

  /// Names what is done now; what it counts is not what the whole counts.
  void stage(const Stage& stage) override { whole_.stage({stage.name, ""}); }
  void progress(const Progress& progress) override;
  void record(const Record& record) override { whole_.record(record); }
  void warn(const std::string& message) override { whole_.warn(message); }
  void note(const std::string& message) override { whole_.note(message); }
  bool stop_requested() override { return whole_.stop_requested(); }

 private:
  const Context& whole_;
  double from_, to_;
  double done_ = 0.0;  // the largest share of the part so far
};

}  // namespace ergodic
