// Where the time of a computation goes: seconds of all threads together, and the multiplications they stand for.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ergodic {

/// The stages of training. Logical multiply-accumulates are those of the matrix products that a stage replaces.
enum class ProfiledStage : std::uint8_t {
  kGather,   ///< collecting a batch
  kPlan,     ///< sorting bits for the look-ups
  kProduct,  ///< fields of a layer
  kDraw,     ///< random numbers, sigmoids, bits
  kDecide,   ///< bits that need more digits: what certainty costs
  kCount,    ///< statistics of pairs
  kStep,     ///< moving the weights
  kRenew,    ///< rounding and transposing the weights
  kBias,     ///< statistics of units, and the step of the biases
  kMeasure,  ///< monitors
};
inline constexpr std::array<std::string_view, 10> kStageNames = {"gather", "plan", "product", "draw", "decide",
                                                                 "count",  "step", "renew",   "bias", "measure"};

class Profile {
 public:
  struct Spent {
    double seconds = 0.0;
    double macs = 0.0;  ///< logical multiply-accumulates
  };

  void add(ProfiledStage stage, std::chrono::nanoseconds time, std::uint64_t macs) {
    Cell& cell = cells_[static_cast<std::size_t>(stage)];
    cell.nanoseconds += static_cast<std::uint64_t>(time.count());
    cell.macs += macs;
  }
  Spent spent(ProfiledStage stage) const {
    const Cell& cell = cells_[static_cast<std::size_t>(stage)];
    return {1e-9 * static_cast<double>(cell.nanoseconds.load()), static_cast<double>(cell.macs.load())};
  }

 private:
  struct Cell {
    std::atomic<std::uint64_t> nanoseconds = 0, macs = 0;
  };
  std::array<Cell, kStageNames.size()> cells_;
};

/// Adds the time from its making to its end to a stage; without a profile, nothing.
class Timed {
 public:
  Timed(Profile* profile, ProfiledStage stage, std::uint64_t macs = 0) : profile_(profile), stage_(stage), macs_(macs) {
    if (profile_) start_ = std::chrono::steady_clock::now();
  }
  ~Timed() {
    if (profile_) profile_->add(stage_, std::chrono::steady_clock::now() - start_, macs_);
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  Profile* profile_;
  ProfiledStage stage_;
  std::uint64_t macs_;
  std::chrono::steady_clock::time_point start_;
};

/// Cycles of the core in a second, now: by a loop of additions, each of which waits for the one before it.
double cycles_per_second();

}  // namespace ergodic
