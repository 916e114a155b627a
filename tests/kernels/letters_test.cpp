#include "ergodic/kernels/letters.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ergodic/kernels/fields.hpp"
#include "ergodic/kernels/lookup_plan.hpp"
#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

using test::kBinary, test::kSpins, test::Map, test::random_map, test::random_matrix, test::random_state;

State defined_letters(const State& x, const Map& map, std::size_t letters, const Draw& draw,
                      std::uint32_t first_chain) {
  State out(x.chains(), map.bias.cols(), kBinary);
  std::vector<double> storage;
  for_fields(x, map, {}, [&](std::size_t r, std::span<const double> fields) {
    for (std::size_t s = 0; s < fields.size() / letters; ++s) {
      const LetterWeights site(fields.subspan(s * letters, letters), storage);
      const double uniform = draw.uniform(first_chain + static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(s));
      out.bits().set(r, s * letters + site.drawn(uniform), true);
    }
  });
  return out;
}

void expect_defined_letters(const State& x, const Map& map, std::size_t letters, const Context& context = {}) {
  SCOPED_TRACE(testing::Message() << x.chains() << " x " << x.units() << " x " << map.bias.cols() << ", " << letters);
  const Draw draw = Key{3}.at(Purpose::kGibbs);
  const State truth = defined_letters(x, map, letters, draw, 7);
  test::for_each_target([&] {
    // What was there before does not matter.
    State drawn = random_state(x.chains(), map.bias.cols(), kBinary, 0.5, 9);
    if (!letters_serve(x)) return;
    sample_letters(x, map, letters, draw, 7, drawn, context);
    ASSERT_EQ(drawn.bits(), truth.bits());
  });
}

TEST(Letters, AreThoseOfTheDefinitionAtAllSizes) {
  for (std::size_t size = 1; size <= 70; ++size) {
    const double density = std::array{0.0, 0.1, 0.5, 1.0}[size % 4];
    const std::size_t letters = 2 + size % 29;
    ASSERT_NO_FATAL_FAILURE(expect_defined_letters(random_state(9, size, kBinary, density, size),
                                                   random_map(size, 3 * letters, 1, kBinary), letters));
    ASSERT_NO_FATAL_FAILURE(expect_defined_letters(random_state(17, size, kSpins, density, size),
                                                   random_map(size, 33 * letters, 1, kSpins, 0.1f), letters));
    ASSERT_NO_FATAL_FAILURE(expect_defined_letters(random_state(size, 40, kBinary, density, size),
                                                   random_map(40, 5 * letters, 2, kBinary, 0.3f), letters));
  }
}

TEST(Letters, AreThoseOfTheDefinitionForLargeAndSmallFields) {
  for (const float scale : {1e-6f, 1e-2f, 1.0f, 10.0f, 1e3f, 1e30f}) {
    for (const float bias : {0.0f, 1.0f, 1e4f}) {
      ASSERT_NO_FATAL_FAILURE(expect_defined_letters(random_state(40, 100, kBinary, 0.4, 4),
                                                     random_map(100, 6 * 21, 5, kBinary, scale, bias), 21));
    }
  }
  // All letters of a site far below zero: what is left of e^I in float is no measure of them.
  Map map = random_map(30, 4 * 5, 6, kBinary);
  for (float& b : map.bias.row(0)) b -= 90.0f;
  ASSERT_NO_FATAL_FAILURE(expect_defined_letters(random_state(300, 30, kBinary, 0.3, 4), map, 5));
}

TEST(Letters, AreThoseOfTheDefinitionAlongATemperedPath) {
  Map map = random_map(50, 8 * 7, 8, kBinary);
  map.base = random_matrix(1, 8 * 7, 9, 2.0f);
  for (const double beta : {0.0, 0.3, 0.99}) {
    map.beta = beta;
    ASSERT_NO_FATAL_FAILURE(expect_defined_letters(random_state(70, 50, kBinary, 0.5, 4), map, 7));
  }
}

TEST(Letters, AreTheSameForAnyNumberOfThreadsInManyDraws) {
  // With sums of some hundred terms about one site in a thousand is not certain in float.
  const Map map = random_map(300, 60 * 21, 10, kBinary, 0.2f);
  for (const std::size_t count : {1u, 3u}) {
    Threads threads(count);
    ASSERT_NO_FATAL_FAILURE(
        expect_defined_letters(random_state(500, 300, kBinary, 0.5, 11), map, 21, Context{&threads}));
  }
}

TEST(Letters, AreThoseOfTheDefinitionForManyRowsAndLetters) {
  ASSERT_NO_FATAL_FAILURE(expect_defined_letters(random_state(LookupPlan::kMaxRows + 3, 70, kBinary, 0.3, 1),
                                                 random_map(70, 3 * 300, 2, kBinary, 0.5f), 300));
  // One-hot inputs, as of hidden letters given letters.
  State x(40, 50 * 20, kBinary);
  for (std::size_t r = 0; r < x.chains(); ++r) {
    for (std::size_t s = 0; s < 50; ++s) x.bits().set(r, s * 20 + (7 * r + 3 * s * s) % 20, true);
  }
  ASSERT_NO_FATAL_FAILURE(expect_defined_letters(x, random_map(50 * 20, 9 * 4, 3, kBinary, 0.3f), 4));
}

TEST(Letters, HaveTheirProbabilities) {
  constexpr std::size_t kLetters = 20, kSites = 40, kRows = 500, kDraws = 40;
  const Map map = random_map(60, kSites * kLetters, 12, kBinary, 0.1f);
  const State x = random_state(1, 60, kBinary, 0.5, 13);
  State same(kRows, 60, kBinary);
  for (std::size_t r = 0; r < kRows; ++r) same.set_row(r, x, 0);
  std::vector<double> counts(kSites * kLetters);
  State drawn(kRows, counts.size(), kBinary);
  for (std::size_t k = 0; k < kDraws; ++k) {
    sample_letters(same, map, kLetters, Key{5}.at(Purpose::kGibbs, k), 0, drawn, {});
    for (std::size_t r = 0; r < kRows; ++r) {
      for_each_set(drawn.bits().row(r), [&](std::size_t unit) { counts[unit] += 1.0; });
    }
  }
  double chi_square = 0.0;
  std::vector<double> storage;
  for_fields(x, map, {}, [&](std::size_t, std::span<const double> fields) {
    for (std::size_t s = 0; s < kSites; ++s) {
      const LetterWeights site(fields.subspan(s * kLetters, kLetters), storage);
      for (std::size_t a = 0; a < kLetters; ++a) {
        const double expected = kRows * kDraws * site.weights[a] / site.total;
        ASSERT_GT(expected, 5.0);
        chi_square += (counts[s * kLetters + a] - expected) * (counts[s * kLetters + a] - expected) / expected;
      }
    }
  });
  // Mean and variance of chi-square are its degrees of freedom and twice those.
  constexpr double kFreedom = kSites * (kLetters - 1);
  EXPECT_NEAR(chi_square, kFreedom, 4.0 * std::sqrt(2.0 * kFreedom));
}

TEST(Letters, AreThoseOfTheDefinitionWhereTablesDoNotServe) {
  for (const Levels levels : {kBinary, kSpins}) {
    ASSERT_NO_FATAL_FAILURE(
        expect_defined_letters(random_state(3, 90, levels, 0.5, 1), random_map(90, 12 * 7, 2, levels, 0.3f), 7));
    ASSERT_NO_FATAL_FAILURE(
        expect_defined_letters(random_state(21, 9, levels, 0.5, 1), random_map(9, 12, 3, levels, 1e9f), 4));
  }
}

TEST(Letters, RealInputsAreLeftToTheDefinition) { EXPECT_FALSE(letters_serve(State(random_matrix(4, 9, 1)))); }

}  // namespace
}  // namespace ergodic
