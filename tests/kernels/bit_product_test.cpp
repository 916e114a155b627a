#include "ergodic/kernels/bit_product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "ergodic/core/threads.hpp"
#include "ergodic/kernels/float_fields.hpp"
#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

using test::random_bits, test::random_matrix, test::for_each_target, test::kBinary, test::kSpins;

/// The definition: groups of four inputs in ascending order.
template <class T>
void add_defined(const Bits& bits, std::size_t first_row, Levels levels, const Matrix<T>& m, Matrix<T>& out) {
  for (std::size_t r = 0; r < out.rows(); ++r) {
    for (std::size_t c = 0; c < out.cols(); ++c) {
      const auto term = [&](std::size_t k) {
        const T level = static_cast<T>(k < m.rows() && bits.get(first_row + r, k) ? levels.high : levels.low);
        return k < m.rows() ? level * m(k, c) : level * T{};
      };
      for (std::size_t k = 0; k < m.rows(); k += 4) {
        out(r, c) = static_cast<T>(out(r, c) + ((term(k) + term(k + 1)) + (term(k + 2) + term(k + 3))));
      }
    }
  }
}

void check(std::size_t rows, std::size_t inputs, std::size_t columns, const Context& context) {
  const std::uint64_t seed = 1000000 * rows + 1000 * inputs + columns;
  const Bits bits = random_bits(rows + 2, inputs, 0.4, seed);
  const Matrix<float> m = random_matrix(inputs, columns, seed + 1), first = random_matrix(rows, columns, seed + 2);
  // Integers that wrap around now and then.
  const auto shorts_of = [](const Matrix<float>& from) {
    Matrix<std::int16_t> out(from.rows(), from.cols());
    for (std::size_t k = 0; k < from.elements().size(); ++k) {
      out.elements()[k] = static_cast<std::int16_t>(std::clamp(5000.0f * from.elements()[k], -32768.0f, 32767.0f));
    }
    return out;
  };
  const auto compare = [&]<class T>(const Matrix<T>& factor, const Matrix<T>& before) {
    for (const Levels levels : {kBinary, kSpins}) {
      Matrix<T> defined = before, found = before;
      add_defined(bits, 1, levels, factor, defined);
      add_bit_product(bits, 1, levels, factor, found, context);
      ASSERT_EQ(found, defined) << rows << " x " << inputs << " x " << columns;
    }
  };
  compare(m, first);
  compare(shorts_of(m), shorts_of(first));
}

TEST(BitProduct, AddsGroupsOfFourOnEveryTarget) {
  for_each_target([] {
    for (std::size_t inputs = 1; inputs <= 70; ++inputs) check(3, inputs, 33, {});
    for (std::size_t columns = 1; columns <= 70; ++columns) check(2, 9, columns, {});
    for (const std::size_t columns : {127u, 128u, 129u}) check(5, 33, columns, {});
    for (std::size_t rows = 1; rows <= 9; ++rows) check(rows, 40, 64, {});
  });
}

TEST(BitProduct, IsTheSameForAnyNumberOfThreads) {
  for (const std::size_t count : {1u, 2u, 3u}) {
    Threads threads(count);
    check(50, 130, 170, Context{&threads});
  }
}

TEST(BitProduct, TransposesBits) {
  for (const std::size_t rows : {1u, 31u, 32u, 33u, 70u}) {
    for (const std::size_t columns : {1u, 63u, 64u, 65u, 100u}) {
      const Bits bits = random_bits(rows, columns, 0.5, rows + 100 * columns);
      Bits found(columns, rows), defined(columns, rows);
      for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t c = 0; c < columns; ++c) defined.set(c, r, bits.get(r, c));
      }
      transpose(bits, found);
      ASSERT_EQ(found, defined);
    }
  }
}

/// Fields in float are near those in double, from bits and from reals, and the same however rows are parted.
TEST(FloatFields, AreThoseOfTheDefinitionRounded) {
  for (const bool real : {false, true}) {
    test::Map map = test::random_map(70, 45, 1, kBinary, 0.3f);
    map.beta = 0.7;
    map.base = random_matrix(1, 45, 2);
    const State x = real ? State(random_matrix(600, 70, 3)) : State(random_bits(600, 70, 0.5, 3), kBinary);
    Matrix<float> all(600, 45);
    find_float_fields(x, 0, map, all, {});
    for_float_fields(x, map, {}, [&](std::size_t r, std::span<const float> fields) {
      for (std::size_t j = 0; j < 45; ++j) {
        ASSERT_EQ(fields[j], all(r, j));
        // 72 roundoffs of 6e-8, of sums up to some ten.
        ASSERT_NEAR(fields[j], test::defined_field(x, r, map, j), 2e-5);
      }
    });
  }
}

}  // namespace
}  // namespace ergodic
