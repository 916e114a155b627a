// Sums of weighted rows: what fields and statistics are made of.
#pragma once

#include <cstddef>

#include "ergodic/kernels/state.hpp"

namespace ergodic {

/// Calls f(i, x_i) for each unit of a row whose value is not zero, in ascending order.
template <class F>
void for_each_nonzero(const State& x, std::size_t row, const F& f) {
  if (x.real()) {
    const std::span<const float> values = x.reals().row(row);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] != 0.0f) f(i, values[i]);
    }
  } else if (x.levels().low == 0.0f) {
    for_each_set(x.bits().row(row), [&](std::size_t i) { f(i, x.levels().high); });
  } else {
    for (std::size_t i = 0; i < x.units(); ++i) f(i, x.value(row, i));
  }
}

/// out += sum of factor * row, for rows given one after the other, in the precision T. Four are taken in one pass over
/// `out`, which saves most of the memory traffic; each element still adds them in the order given.
template <class T>
class RowSum {
 public:
  RowSum(T* out, std::size_t width) : out_(out), width_(width) {}
  ~RowSum() {
    for (std::size_t k = 0; k < waiting_; ++k) {
      for (std::size_t j = 0; j < width_; ++j) out_[j] += factors_[k] * rows_[k][j];
    }
  }
  RowSum(const RowSum&) = delete;
  RowSum& operator=(const RowSum&) = delete;

  void add(T factor, const float* row) {
    factors_[waiting_] = factor;
    rows_[waiting_] = row;
    if (++waiting_ < 4) return;
    waiting_ = 0;
    const auto [f0, f1, f2, f3] = factors_;
    const auto [r0, r1, r2, r3] = rows_;
    for (std::size_t j = 0; j < width_; ++j) {
      out_[j] = (((out_[j] + f0 * r0[j]) + f1 * r1[j]) + f2 * r2[j]) + f3 * r3[j];
    }
  }

 private:
  T* out_;
  std::size_t width_;
  T factors_[4];
  const float* rows_[4];
  std::size_t waiting_ = 0;
};

}  // namespace ergodic
