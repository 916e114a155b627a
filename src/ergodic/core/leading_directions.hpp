// The leading eigenvectors of a symmetric matrix that is known by its products alone, by orthogonal iteration (Golub
// and Van Loan 2013).
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "ergodic/core/matrix.hpp"

namespace ergodic {

/// Orthonormal directions, a row each, that the matrix stretches most, and by how much, the most first. The later ones
/// are approximate. Those that a matrix of low rank does not have are zero.
struct LeadingDirections {
  Matrix<double> directions;
  std::vector<double> stretches;
};

/// Adds each row times the matrix to the same row of `out`.
using AddProduct = std::function<void(const Matrix<double>& rows, Matrix<double>& out)>;

/// At most `count` of the directions of a matrix of so many rows. The same matrix has the same directions, to the bit.
LeadingDirections leading_directions(std::size_t size, std::size_t count, const AddProduct& add_product);

}  // namespace ergodic
