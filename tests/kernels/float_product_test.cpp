#include "ergodic/kernels/float_product.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ergodic/core/threads.hpp"
#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

using test::random_matrix, test::for_each_target;

Matrix<float> transpose_of(const Matrix<float>& m) {
  Matrix<float> out(m.cols(), m.rows());
  for (std::size_t i = 0; i < m.rows(); ++i) {
    for (std::size_t j = 0; j < m.cols(); ++j) out(j, i) = m(i, j);
  }
  return out;
}

/// The definition: one chain of fused multiply-adds for each output, from what is there already.
void add_defined(const Matrix<float>& a, const Matrix<float>& b, Matrix<float>& out) {
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < b.cols(); ++j) {
      for (std::size_t k = 0; k < a.cols(); ++k) out(i, j) = std::fma(a(i, k), b(k, j), out(i, j));
    }
  }
}

/// Compares all ways to write a product with the definition, to the last bit.
void check(std::size_t rows, std::size_t terms, std::size_t columns, const Context& context) {
  const std::uint64_t seed = 1000000 * rows + 1000 * terms + columns;
  const Matrix<float> a = random_matrix(rows, terms, seed), b = random_matrix(terms, columns, seed + 1);
  const Matrix<float> first = random_matrix(rows, columns, seed + 2);
  Matrix<float> defined = first;
  add_defined(a, b, defined);
  const Matrix<float> a_turned = transpose_of(a), b_turned = transpose_of(b);
  const Factor lefts[] = {a, transposed(a_turned)}, rights[] = {b, transposed(b_turned)};
  for (const Factor& left : lefts) {
    for (const Factor& right : rights) {
      Matrix<float> out = first;
      add_product(left, right, out, context);
      ASSERT_EQ(out, defined) << rows << " x " << terms << " x " << columns;
    }
  }
}

TEST(FloatProduct, IsAChainOfFusedMultiplyAddsOnEveryTarget) {
  for_each_target([] {
    for (std::size_t rows = 1; rows <= 14; ++rows) check(rows, 5, 33, {});
    for (std::size_t columns = 1; columns <= 130; columns += columns < 70 ? 1 : 7) check(7, 3, columns, {});
    for (const std::size_t terms : {1u, 2u, 255u, 256u, 257u, 600u}) check(13, terms, 40, {});
  });
}

// Factors are packed, or read where they are: by rows, by how far apart they lie, and by the width of the last tile.
TEST(FloatProduct, IsTheSamePackedOrNotAtOddSizes) {
  for_each_target([] {
    for (const std::size_t rows : {1u, 12u, 13u, 40u, 41u, 101u}) {
      for (const std::size_t columns : {16u, 31u, 48u, 53u, 129u}) check(rows, 37, columns, {});
      check(rows, 259, 65, {});
    }
  });
}

TEST(FloatProduct, OfOneColumnOrRowIsThatOfTheTranspose) {
  for_each_target([] {
    for (const std::size_t count : {1u, 2u, 17u, 130u, 300u}) {
      check(count, 33, 1, {});
      check(1, 33, count, {});
      check(count, 1, count, {});
    }
  });
}

TEST(FloatProduct, IsTheSameAtTheEdgesOfBlocksForAnyNumberOfThreads) {
  for (const std::size_t count : {1u, 2u, 3u}) {
    Threads threads(count);
    const Context context{&threads};
    for (const std::size_t rows : {191u, 192u, 193u, 400u}) check(rows, 17, 129, context);
    check(100, 300, 260, context);
  }
}

TEST(FloatProduct, OfNothingIsNothing) {
  Matrix<float> out(3, 2);
  add_product(Matrix<float>(3, 0), Matrix<float>(0, 2), out, {});
  EXPECT_EQ(out, Matrix<float>(3, 2));
  Matrix<float> none(0, 2);
  add_product(Matrix<float>(0, 4), Matrix<float>(4, 2), none, {});
}

}  // namespace
}  // namespace ergodic
