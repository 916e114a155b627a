// Features of rows: what the hidden units of a machine make of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/machine/machine.hpp"
#include "ergodic/run/open_rows.hpp"

namespace ergodic {

struct FeatureOptions {
  std::optional<std::uint64_t> layer;  ///< which hidden layer, counted from 1; nothing: the highest
  bool drawn = false;                  ///< states of the hidden units instead of their expected values
  std::uint64_t sweeps = 500;          ///< of chains at the rows, where there is no formula
};

struct Features {
  bool stopped = false;
  Matrix<float> values;    ///< [rows, hidden units], in the hidden units' own values
  bool by_chains = false;  ///< averaged over sweeps of chains that keep what is known, instead of by a formula
};

/// E[hidden | row], or a draw of it. UsageError if the machine has no hidden units, or not so many layers of them.
Features features(const Machine& machine, const OpenRows& rows, const FeatureOptions& options, Key key,
                  const Context& context);

}  // namespace ergodic
