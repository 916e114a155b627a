#include "ergodic/run/finite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

[[noreturn]] void fail(const std::string& what, double value) {
  throw NumericError(
      fmt::format("{} is {}, expected a finite number; parameters of the machine, or values of the data, are too large "
                  "to compute with",
                  what, value));
}

}  // namespace

void require_finite(double value, std::string_view what) {
  if (!std::isfinite(value)) fail(std::string(what), value);
}

void require_finite(const Estimate& estimate, std::string_view what) {
  for (const double value : {estimate.value, estimate.lower, estimate.upper}) require_finite(value, what);
}

void require_finite(MatrixView<const float> values, std::string_view what) {
  const auto all = values.elements();
  const auto found = std::ranges::find_if(all, [](float value) { return !std::isfinite(value); });
  if (found == all.end()) return;
  const auto place = static_cast<std::size_t>(found - all.begin());
  fail(fmt::format("{}: unit {} of row {}", what, place % values.cols() + 1, place / values.cols() + 1), *found);
}

void require_finite(const State& states, std::string_view what) {
  if (states.real()) require_finite(states.reals().view(), what);
}

}  // namespace ergodic
