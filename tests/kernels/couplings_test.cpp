#include "ergodic/kernels/couplings.hpp"

#include <gtest/gtest.h>

#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

using test::random_matrix;

constexpr float kRowsLow = -1.0f, kColumnsLow = 0.0f;

/// Weights with the biases of both sides.
struct Machine {
  Matrix<float> weights, row_bias, column_bias;

  Machine(std::size_t rows, std::size_t cols, std::uint64_t seed, float scale)
      : weights(random_matrix(rows, cols, seed, scale)),
        row_bias(random_matrix(1, rows, seed + 1)),
        column_bias(random_matrix(1, cols, seed + 2)) {}

  void finish(Couplings& couplings, const Context& context = {}) const {
    couplings.finish(weights, row_bias.row(0), column_bias.row(0), context);
  }
};

/// The transposed weights must be that exactly, and the rounded ones what QuantisedWeights make of either.
void expect_all_forms(const Couplings& couplings, const Machine& machine) {
  const Matrix<float> turned = test::transposed_of(machine.weights);
  const MatrixView<const float> transposed = couplings.transposed();
  ASSERT_EQ(transposed.rows(), turned.rows());
  ASSERT_EQ(transposed.cols(), turned.cols());
  for (std::size_t k = 0; k < turned.elements().size(); ++k) {
    ASSERT_EQ(transposed.elements()[k], turned.elements()[k]) << k;
  }
  QuantisedWeights to_columns(turned.cols(), turned.rows(), kRowsLow),
      to_rows(turned.rows(), turned.cols(), kColumnsLow);
  to_columns.assign(machine.weights, machine.column_bias.row(0), {});
  to_rows.assign(turned, machine.row_bias.row(0), {});
  ASSERT_NO_FATAL_FAILURE(test::expect_same(couplings.to_columns(), to_columns));
  ASSERT_NO_FATAL_FAILURE(test::expect_same(couplings.to_rows(), to_rows));
}

void expect_renewed(std::size_t rows, std::size_t cols, float scale, const Context& context) {
  SCOPED_TRACE(testing::Message() << rows << " x " << cols);
  const Machine machine(rows, cols, rows + 1000 * cols, scale);
  test::for_each_target([&] {
    Couplings couplings(rows, cols, kRowsLow, kColumnsLow);
    couplings.renew_blocks(machine.weights, context);
    machine.finish(couplings, context);
    ASSERT_NO_FATAL_FAILURE(expect_all_forms(couplings, machine));
  });
}

TEST(Couplings, HaveAllFormsOfTheWeightsAtAllSizes) {
  for (std::size_t size = 1; size <= 130; ++size) {
    const std::size_t other = std::array{1u, 7u, 33u, 64u, 65u}[size % 5];
    const float scale = std::array{0.01f, 0.1f, 1.0f, 1e4f}[size % 4];
    ASSERT_NO_FATAL_FAILURE(expect_renewed(size, other, scale, {}));
    ASSERT_NO_FATAL_FAILURE(expect_renewed(other, size, scale, {}));
  }
}

TEST(Couplings, HaveAllFormsOfWeightsThatNoCacheHolds) {
  constexpr std::size_t kRows = 4160, kCols = 2050;
  static_assert(kRows * kCols * sizeof(std::int16_t) > kCachedBytes);
  Threads threads(2);
  ASSERT_NO_FATAL_FAILURE(expect_renewed(kRows, kCols, 0.1f, Context{&threads}));
}

TEST(Couplings, HaveAllFormsOfTheWeightsAroundTheEdgesForAnyNumberOfThreads) {
  for (const std::size_t rows : {63u, 64u, 65u, 127u, 128u, 129u, 513u}) {
    for (const std::size_t cols : {31u, 32u, 33u, 95u, 96u, 97u, 129u}) {
      Threads threads(1 + rows % 3);
      ASSERT_NO_FATAL_FAILURE(expect_renewed(rows, cols, 0.1f, Context{&threads}));
    }
  }
}

TEST(Couplings, FollowWeightsThatGrowWhenRenewedBlockByBlock) {
  test::for_each_target([&] {
    Couplings couplings(150, 100, kRowsLow, kColumnsLow);
    for (const float scale : {1e-4f, 0.01f, 0.02f, 0.5f, 3.0f, 1e5f}) {
      const Machine machine(150, 100, 1, scale);
      for (std::size_t column = 0; column < 100; column += Couplings::kBlock) {
        for (std::size_t row = 0; row < 150; row += Couplings::kBlock) {
          couplings.renew_block(machine.weights, row, column);
        }
      }
      machine.finish(couplings);
      ASSERT_NO_FATAL_FAILURE(expect_all_forms(couplings, machine)) << scale;
    }
  });
}

}  // namespace
}  // namespace ergodic
