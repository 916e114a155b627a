#include "ergodic/core/leading_directions.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

#include "ergodic/core/random.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kIterations = 20;

/// Makes the rows orthonormal, one after the other, and says how long each was beside those before it. Rows that were
/// nothing beside them become zero.
std::vector<double> orthonormalise(Matrix<double>& rows) {
  constexpr double kNothing = 1e-9;  // of the longest
  std::vector<double> lengths;
  double longest = 0.0;
  for (std::size_t k = 0; k < rows.rows(); ++k) {
    const std::span<double> row = rows.row(k);
    for (std::size_t l = 0; l < k; ++l) {
      const double along = std::inner_product(row.begin(), row.end(), rows.row(l).begin(), 0.0);
      for (std::size_t i = 0; i < row.size(); ++i) row[i] -= along * rows(l, i);
    }
    const double length = std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
    longest = std::max(longest, length);
    for (double& value : row) value = length > kNothing * longest ? value / length : 0.0;
    lengths.push_back(length > kNothing * longest ? length : 0.0);
  }
  return lengths;
}

}  // namespace

LeadingDirections leading_directions(std::size_t size, std::size_t count, const AddProduct& add_product) {
  LeadingDirections out{Matrix<double>(std::min(count, size), size), {}};
  // From directions that no matrix is likely to be orthogonal to.
  const Draw draw = Key{}.at(Purpose::kInitialWeights, 0, 1);
  for (std::size_t k = 0; k < out.directions.rows(); ++k) {
    for (std::size_t i = 0; i < size; ++i) {
      out.directions(k, i) = draw.normal(static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(i));
    }
  }
  orthonormalise(out.directions);
  for (std::size_t iteration = 0; iteration < kIterations; ++iteration) {
    Matrix<double> next(out.directions.rows(), size);
    add_product(out.directions, next);
    out.directions = std::move(next);
    out.stretches = orthonormalise(out.directions);
  }
  return out;
}

}  // namespace ergodic
