// Moments of data: means, deviations and kurtoses of its units, and the directions along which it varies most.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ergodic/core/matrix.hpp"
#include "ergodic/data/dataset.hpp"

namespace ergodic {

/// The mean of each unit over all rows in which it is known (of each bit, of each grey level for dynamic data), by the
/// weights of the rows if they have any. DataError names a unit that is not known in any row.
std::vector<double> unit_means(const Dataset& data);
/// The standard deviation of each unit of real data over the rows in which it is known. One that hardly changes is
/// given a tenth of the root mean square of all: no precision would be large enough for a constant.
std::vector<double> unit_deviations(const Dataset& data);
/// The kurtosis of each unit of real data, in terms of these deviations: 3 if it is normal, large if it is mostly near
/// its mean and seldom far out.
std::vector<double> unit_kurtoses(const Dataset& data, std::span<const double> deviations);
/// How much units of data that is not real covary: the root of the mean, over units, of the sum of squared covariances
/// with all others. From a few hundred rows, less what they would show by chance.
double shared_covariance(const Dataset& data);
/// Directions along which data varies most, orthonormal, a row each, and the variances along them, the largest first.
struct PrincipalDirections {
  Matrix<double> directions;
  std::vector<double> variances;
};
/// Principal directions of real data in units of these deviations, at most `count`, from at most a thousand rows,
/// evenly spaced; the later ones are approximate. If all units are independent variances are 1, if all are the same,
/// the first is the number of units. With missing values an upper estimate: each known value stands for those that are
/// missing from its unit.
PrincipalDirections principal_directions(const Dataset& data, std::span<const double> deviations, std::size_t count);

}  // namespace ergodic
