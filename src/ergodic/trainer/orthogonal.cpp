#include "ergodic/trainer/orthogonal.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "ergodic/core/aligned.hpp"
#include "ergodic/kernels/float_product.hpp"

namespace ergodic {
namespace {

constexpr int kIterations = 5;
constexpr float kA = 3.4445f, kB = -4.7750f, kC = 2.0315f;
constexpr std::size_t kElements = 16384;  // that one thread takes at a time

/// Rows x columns of zeros in memory that stays.
MatrixView<float> zeros(AlignedVector<float>& memory, std::size_t rows, std::size_t cols) {
  memory.assign(rows * cols, 0.0f);
  return {memory.data(), rows, cols};
}

/// Divides by the root of the sum of squares. False if that is zero.
bool normalise(MatrixView<float> m, const Context& context) {
  double squares = 0.0;
  for (const float x : m.elements()) squares += double{x} * x;
  if (squares == 0.0) return false;
  const auto factor = static_cast<float>(1.0 / std::sqrt(squares));
  context.for_blocks(m.elements().size(), kElements, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) m.data()[k] *= factor;
  });
  return true;
}

}  // namespace

void orthogonalise(MatrixView<float> matrix, const Context& context) {
  if (!normalise(matrix, context) || matrix.cols() == 1 || matrix.rows() == 1) return;
  thread_local AlignedVector<float> gram_memory, polynomial_memory, next_memory;
  const bool tall = matrix.rows() > matrix.cols();
  const std::size_t side = std::min(matrix.rows(), matrix.cols());
  for (int k = 0; k < kIterations; ++k) {
    const Factor x(matrix);
    const MatrixView<float> gram = zeros(gram_memory, side, side);
    tall ? add_product(x.transposed(), x, gram, context) : add_product(x, x.transposed(), gram, context);
    const MatrixView<float> polynomial = zeros(polynomial_memory, side, side);
    add_product(Factor(gram), Factor(gram), polynomial, context);
    for (std::size_t e = 0; e < side * side; ++e) {
      polynomial.data()[e] = kC * polynomial.data()[e] + kB * gram.data()[e];
    }
    for (std::size_t i = 0; i < side; ++i) polynomial(i, i) += kA;
    const MatrixView<float> next = zeros(next_memory, matrix.rows(), matrix.cols());
    tall ? add_product(x, Factor(polynomial), next, context) : add_product(Factor(polynomial), x, next, context);
    std::ranges::copy(next.elements(), matrix.data());
  }
}

}  // namespace ergodic
