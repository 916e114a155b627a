// A short run of few rows and chains, for learners that go through stages.
#pragma once

#include <cstdint>

#include "ergodic/core/random.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/trainer/train_options.hpp"

namespace ergodic::test {

constexpr Key kKey{7};
inline const Dataset kNone;

inline TrainOptions options_of(std::uint64_t updates) {
  TrainOptions out;
  out.batch = 5;
  out.chains = 6;
  out.updates = updates;
  out.learning_rate = 0.1;
  out.steps = 2;
  out.sgd.momentum = 0.5;
  return out;
}

}  // namespace ergodic::test
