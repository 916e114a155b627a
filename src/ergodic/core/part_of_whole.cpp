#include "ergodic/core/part_of_whole.hpp"

#include <algorithm>

namespace ergodic {
namespace {

constexpr std::uint64_t kSteps = 1'000'000;  // of the whole: finer than any bar

}  // namespace

void PartOfWhole::done(double share) {
  done_ = std::clamp(share, done_, 1.0);
  const double all = from_ + done_ * (to_ - from_);
  whole_.progress({static_cast<std::uint64_t>(all * static_cast<double>(kSteps)), kSteps});
}

void PartOfWhole::progress(const Progress& progress) {
  if (progress.total > 0) done(static_cast<double>(progress.done) / static_cast<double>(progress.total));
}

}  // namespace ergodic
