// A line through points, by least squares.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include "ergodic/core/matrix.hpp"

namespace ergodic {

struct Line {
  double slope = 0.0, height = 0.0;
};

/// The line y = slope x + height through the points that a column of two matrices has, or the closest one that is no
/// steeper; flat if all x are the same.
inline Line line_through(const Matrix<float>& x, const Matrix<float>& y, std::size_t column,
                         double steepest = std::numeric_limits<double>::infinity()) {
  const auto rows = static_cast<double>(x.rows());
  double mean_x = 0.0, mean_y = 0.0, squares = 0.0, products = 0.0;
  for (std::size_t r = 0; r < x.rows(); ++r) {
    mean_x += x(r, column) / rows;
    mean_y += y(r, column) / rows;
  }
  for (std::size_t r = 0; r < x.rows(); ++r) {
    squares += (x(r, column) - mean_x) * (x(r, column) - mean_x);
    products += (x(r, column) - mean_x) * (y(r, column) - mean_y);
  }
  const double slope = squares > 0.0 ? std::clamp(products / squares, -steepest, steepest) : 0.0;
  return {slope, mean_y - slope * mean_x};
}

}  // namespace ergodic
