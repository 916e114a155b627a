#include "ergodic/kernels/log_sums.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

struct Sum {
  double (*found)(std::span<const double>);
  double (*term)(double);
};

double log_cosh(double x) { return std::abs(x) + softplus(-2.0 * std::abs(x)); }

constexpr Sum kSums[] = {{sum_softplus, softplus}, {sum_log_cosh, log_cosh}};

/// Term k in partial sum k mod 8, as the header says.
double defined_sum(const Sum& sum, std::span<const double> x) {
  double partials[8] = {}, total = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) partials[k % 8] += sum.term(x[k]);
  for (const double partial : partials) total += partial;
  return total;
}

std::vector<double> numbers(std::size_t count, double scale, std::uint64_t seed) {
  std::vector<double> out(count);
  const Draw draw = Key{seed}.at(Purpose::kTest);
  for (std::uint32_t k = 0; k < count; ++k) out[k] = scale * draw.normal(0, k);
  return out;
}

TEST(LogSums, AreThoseOfTheDefinitionToTheLastBitForAnyNumberOfTerms) {
  for (const Sum& sum : kSums) {
    for (std::size_t count = 0; count <= 130; ++count) {
      for (const double scale : {1e-12, 0.1, 3.0, 30.0, 1e3}) {
        const std::vector<double> x = numbers(count, scale, count);
        const double truth = defined_sum(sum, x);
        test::for_each_target([&] { ASSERT_EQ(sum.found(x), truth) << count << ", " << scale; });
      }
    }
  }
}

TEST(LogSums, EachTermIsThatOfTheDefinitionToTheLastBit) {
  // Everywhere on the way from one tail to the other, and at the joints: where the exponential ends, where the
  // logarithm becomes the number itself, and where a mantissa is halved.
  std::vector<double> x = numbers(20000, 5.0, 1);
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
    test::for_each_target([&] {
      for (const double value : x) {
        const std::vector<double> eight(8, value);
        ASSERT_EQ(sum.found(eight), defined_sum(sum, eight)) << value;
      }
    });
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

}  // namespace
}  // namespace ergodic
