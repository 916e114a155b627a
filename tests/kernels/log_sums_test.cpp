#include "ergodic/kernels/log_sums.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

struct Sum {
  double (*found)(std::span<const double>);
  double (*term)(double);
};

double log_cosh(double x) { return std::abs(x) + softplus(-2.0 * std::abs(x)); }

constexpr Sum kSums[] = {{sum_softplus, softplus}, {sum_log_cosh, log_cosh}};

/// Compares with the sum of the terms, and each instruction set with the others to the last bit. A product of k factors
/// is off by k roundings, and so is its logarithm; a sum, by as many of its size.
void expect_sum(const Sum& sum, std::span<const double> x) {
  double truth = 0.0, size = 1.0;
  for (const double value : x) {
    truth += sum.term(value);
    size += 1.0 + sum.term(value);
  }
  std::optional<double> first;
  test::for_each_target([&] {
    const double found = sum.found(x);
    if (!first) first = found;
    ASSERT_EQ(found, *first);
    if (std::isfinite(truth)) {
      ASSERT_NEAR(found, truth, 0x1p-52 * static_cast<double>(x.size() + 4) * size);
    } else {
      ASSERT_EQ(found, truth);
    }
  });
}

std::vector<double> numbers(std::size_t count, double scale, std::uint64_t seed) {
  std::vector<double> out(count);
  const Draw draw = Key{seed}.at(Purpose::kTest);
  for (std::uint32_t k = 0; k < count; ++k) out[k] = scale * draw.normal(0, k);
  return out;
}

TEST(LogSums, AreTheSumsOfTheirTermsForAnyNumberOfThem) {
  for (const Sum& sum : kSums) {
    for (std::size_t count = 0; count <= 130; ++count) {
      for (const double scale : {1e-12, 0.1, 3.0, 30.0, 1e3}) {
        ASSERT_NO_FATAL_FAILURE(expect_sum(sum, numbers(count, scale, count))) << count << ", " << scale;
      }
    }
  }
}

TEST(LogSums, ProductsOfManyFactorsDoNotOverflow) {
  // Each factor is two, the most that there is.
  for (const Sum& sum : kSums) {
    for (const std::size_t count : {4095u, 4096u, 4097u, 8191u, 8200u, 100000u}) {
      const std::vector<double> zeros(count);
      ASSERT_NO_FATAL_FAILURE(expect_sum(sum, zeros)) << count;
      ASSERT_NEAR(sum.found(zeros), static_cast<double>(count) * std::log(2.0), 1e-10 * static_cast<double>(count));
    }
  }
}

TEST(LogSums, EachTermIsRightFromOneTailToTheOther) {
  std::vector<double> x = numbers(5000, 5.0, 1);
  for (const double at : {0.0, 354.0, 708.0, 709.0, 9.2103, 18.4206, 0.8813735870195429, 0.44068679350977147, 1e300,
                          std::numeric_limits<double>::infinity()}) {
    for (const double sign : {1.0, -1.0}) {
      double below = sign * at, above = sign * at;
      for (int k = 0; k < 20; ++k) {
        x.insert(x.end(), {below, above});
        below = std::nextafter(below, -1e308);
        above = std::nextafter(above, 1e308);
      }
    }
  }
  for (const Sum& sum : kSums) {
    for (const double value : x) {
      ASSERT_NO_FATAL_FAILURE(expect_sum(sum, {&value, 1})) << value;
      const std::vector<double> eight(8, value);
      ASSERT_NO_FATAL_FAILURE(expect_sum(sum, eight)) << value;
    }
  }
}

TEST(LogSums, WhatIsNotANumberStaysSo) {
  for (const Sum& sum : kSums) {
    for (std::size_t at = 0; at < 11; ++at) {
      std::vector<double> x = numbers(11, 1.0, 2);
      x[at] = NAN;
      test::for_each_target([&] { ASSERT_TRUE(std::isnan(sum.found(x))); });
    }
  }
}

TEST(SoftplusChange, IsTheDifferenceForAnyNumberOfTerms) {
  for (std::size_t count = 0; count <= 130; ++count) {
    for (const double scale : {1e-12, 0.1, 3.0, 30.0, 1e3}) {
      const std::vector<double> x = numbers(count, scale, count);
      for (const auto& [from, to] : {std::pair{0.0, 1e-4}, {0.3, 0.301}, {0.9, 0.9001}, {0.5, 0.4999}, {0.0, 1.0}}) {
        double truth = 0.0, size = 0.0;
        for (const double value : x) {
          truth += softplus(to * value) - softplus(from * value);
          size += std::abs((to - from) * value);
        }
        std::optional<double> first;
        test::for_each_target([&] {
          const double found = softplus_change(x, from, to);
          if (!first) first = found;
          ASSERT_EQ(found, *first);
          // The truth itself is a difference of rounded numbers.
          ASSERT_NEAR(found, truth, 1e-6 * size + 0x1p-50 * static_cast<double>(count) * (1.0 + scale));
        });
      }
    }
  }
}

TEST(SoftplusChange, StepsAddUp) {
  // Errors of single steps are nearly random: those of ten thousand are no larger than that of one.
  const std::vector<double> x = numbers(500, 5.0, 1);
  constexpr int kSteps = 10000;
  double sum = 0.0;
  for (int k = 0; k < kSteps; ++k) sum += softplus_change(x, double(k) / kSteps, double(k + 1) / kSteps);
  EXPECT_NEAR(sum, sum_softplus(x) - 500.0 * std::log(2.0), 1e-7 * sum_softplus(x));
}

}  // namespace
}  // namespace ergodic
