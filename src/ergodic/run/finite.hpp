// A result is a number. One that is not finite is an error of the computation, never an answer.
#pragma once

#include <string_view>

#include "ergodic/core/matrix.hpp"
#include "ergodic/estimator/estimate.hpp"
#include "ergodic/kernels/state.hpp"

namespace ergodic {

/// NumericError that says what is not finite, and where.
void require_finite(double value, std::string_view what);
/// The value and its bracket.
void require_finite(const Estimate& estimate, std::string_view what);
/// Values in rows, a column for each unit.
void require_finite(MatrixView<const float> values, std::string_view what);
void require_finite(const State& states, std::string_view what);

}  // namespace ergodic
