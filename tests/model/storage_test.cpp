#include "ergodic/model/storage.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ergodic/core/error.hpp"
#include "ergodic/model/recall.hpp"
#include "model/patterns.hpp"

namespace ergodic {
namespace {

constexpr StorageRule kRules[] = {StorageRule::kHebb, StorageRule::kStorkey, StorageRule::kPseudoInverse};

Hopfield stored(StorageRule rule, const State& patterns, bool bias = false) {
  return *store({rule, bias}, patterns, {});
}

/// The rule of Storkey and Valiant as it is printed: every local field summed anew.
Matrix<double> naive_storkey(const State& patterns) {
  const std::size_t n = patterns.units();
  Matrix<double> w(n, n);
  for (std::size_t m = 0; m < patterns.chains(); ++m) {
    const auto p = [&](std::size_t i) { return double{patterns.value(m, i)}; };
    const Matrix<double> old = w;
    const auto local_field = [&](std::size_t i, std::size_t j) {
      double sum = 0.0;
      for (std::size_t k = 0; k < n; ++k) {
        if (k != i && k != j) sum += old(i, k) * p(k);
      }
      return sum;
    };
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        if (i == j) continue;
        w(i, j) += (p(i) * p(j) - p(i) * local_field(j, i) - local_field(i, j) * p(j)) / static_cast<double>(n);
      }
    }
  }
  return w;
}

TEST(Storage, HebbIsTheMeanOfProducts) {
  for (const std::size_t units : {1u, 5u, 70u}) {
    const State patterns = test::random_patterns(67, units, 1);
    const Hopfield network = stored(StorageRule::kHebb, patterns);
    for (std::size_t i = 0; i < units; ++i) {
      for (std::size_t j = 0; j < units; ++j) {
        double sum = 0.0;
        for (std::size_t m = 0; m < 67; ++m) sum += patterns.value(m, i) * patterns.value(m, j);
        const double expected = i == j ? 0.0 : sum / static_cast<double>(units);
        ASSERT_EQ(network.couplings()(i, j), static_cast<float>(expected));
      }
      EXPECT_EQ(network.bias()[i], 0.0f);
    }
  }
}

TEST(Storage, StorkeyIsTheRuleAsPrinted) {
  const State patterns = test::random_patterns(12, 31, 2);
  const Hopfield network = stored(StorageRule::kStorkey, patterns);
  const Matrix<double> expected = naive_storkey(patterns);
  for (std::size_t k = 0; k < expected.elements().size(); ++k) {
    // Couplings are below 1: half a unit of a float, and some hundreds of roundings in double, which are far less.
    ASSERT_NEAR(network.couplings().elements()[k], expected.elements()[k], 0x1p-24);
  }
}

TEST(Storage, TheFirstPatternIsTheSameForHebbAndStorkey) {
  const State pattern = test::random_patterns(1, 20, 3);
  const Hopfield hebb = stored(StorageRule::kHebb, pattern), storkey = stored(StorageRule::kStorkey, pattern);
  for (std::size_t k = 0; k < 400; ++k) {
    EXPECT_EQ(hebb.couplings().elements()[k], storkey.couplings().elements()[k]);
  }
}

TEST(Storage, EveryRuleKeepsFewPatternsAtRest) {
  // The noise in a field of Hebb's rule has variance P/N = 0.02 beside a signal of 1: seven standard deviations.
  const State patterns = test::random_patterns(10, 500, 4);
  for (const StorageRule rule : kRules) {
    for (const bool bias : {false, true}) EXPECT_EQ(count_stable(stored(rule, patterns, bias), patterns, {}), 10u);
  }
}

TEST(Storage, ThePseudoInverseKeepsAllButOneOfAsManyAsItHasUnits) {
  for (const std::size_t units : {2u, 3u, 5u, 8u, 16u, 31u, 64u}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const State patterns = test::random_patterns(units - 1, units, seed);
      ASSERT_EQ(count_stable(stored(StorageRule::kPseudoInverse, patterns), patterns, {}), units - 1)
          << units << " units, seed " << seed;
    }
  }
}

TEST(Storage, TheFieldsOfThePseudoInverseAreThePatternsWithoutTheDiagonal) {
  // W p = p with the diagonal D, so h = (1 - D) p, and the D of a projection onto P dimensions sum to P.
  const State patterns = test::random_patterns(40, 100, 5);
  const Matrix<double> fields = stored(StorageRule::kPseudoInverse, patterns).fields(patterns, {});
  for (std::size_t m = 0; m < 40; ++m) {
    double along = 0.0;
    for (std::size_t i = 0; i < 100; ++i) along += fields(m, i) * patterns.value(m, i);
    // 10,000 couplings below 1, each rounded to a float.
    EXPECT_NEAR(along, 100.0 - 40.0, 1e4 * 0x1p-25);
  }
}

TEST(Storage, PatternsThatDependOnOthersAddNothingToThePseudoInverse) {
  // The second half repeats the first one, with every other pattern negated.
  State patterns = test::random_patterns(20, 50, 6);
  for (std::size_t m = 10; m < 20; ++m) {
    for (std::size_t i = 0; i < 50; ++i) patterns.bits().set(m, i, patterns.bits().get(m - 10, i) == (m % 2 == 0));
  }
  State first(10, 50, Spin::kLevels);
  for (std::size_t m = 0; m < 10; ++m) first.bits().row(m)[0] = patterns.bits().row(m)[0];
  const Hopfield all = stored(StorageRule::kPseudoInverse, patterns), few = stored(StorageRule::kPseudoInverse, first);
  for (std::size_t k = 0; k < 2500; ++k) ASSERT_EQ(all.couplings().elements()[k], few.couplings().elements()[k]);
  EXPECT_EQ(count_stable(all, patterns, {}), 20u);
}

TEST(Storage, PatternsThatSpanEverythingLeaveNoCouplings) {
  const Hopfield network = stored(StorageRule::kPseudoInverse, test::random_patterns(60, 20, 7));
  for (const float w : network.couplings().elements()) EXPECT_EQ(w, 0.0f);
}

TEST(Storage, BiasesAreCouplingsToAUnitThatIsAlwaysUp) {
  const std::size_t units = 30;
  const State patterns = test::random_patterns(5, units, 8);
  State longer(5, units + 1, Spin::kLevels);
  for (std::size_t m = 0; m < 5; ++m) {
    longer.bits().row(m)[0] = patterns.bits().row(m)[0] | (std::uint64_t{1} << units);
  }
  for (const StorageRule rule : kRules) {
    const Hopfield biased = stored(rule, patterns, true), whole = stored(rule, longer);
    for (std::size_t i = 0; i < units; ++i) {
      EXPECT_EQ(biased.bias()[i], whole.couplings()(i, units));
      for (std::size_t j = 0; j < units; ++j) EXPECT_EQ(biased.couplings()(i, j), whole.couplings()(i, j));
    }
  }
}

TEST(Storage, TheSameCouplingsForAnyNumberOfThreads) {
  const State patterns = test::random_patterns(40, 77, 9);
  for (const StorageRule rule : kRules) {
    const Hopfield alone = stored(rule, patterns);
    for (const std::size_t count : {1u, 2u, 3u}) {
      Threads threads(count);
      const Hopfield shared = *store({rule, false}, patterns, Context{&threads});
      for (std::size_t k = 0; k < 77 * 77; ++k) {
        ASSERT_EQ(shared.couplings().elements()[k], alone.couplings().elements()[k]);
      }
    }
  }
}

TEST(Storage, WithoutPatternsThereIsNoNetwork) {
  for (const StorageRule rule : kRules) EXPECT_THROW(stored(rule, State(0, 5, Spin::kLevels)), UsageError);
}

TEST(Storage, CapacitiesAreThoseOfTheLiterature) {
  EXPECT_EQ(capacity_of(StorageRule::kHebb, 500), 0.138);
  EXPECT_NEAR(capacity_of(StorageRule::kStorkey, 500), 1.0 / std::sqrt(2.0 * std::log(500.0)), 1e-15);
  EXPECT_EQ(capacity_of(StorageRule::kPseudoInverse, 500), 0.998);
  EXPECT_TRUE(std::isfinite(capacity_of(StorageRule::kStorkey, 1)));
}

class Stopper : public Observer {
 public:
  bool stop_requested() override { return true; }
};

TEST(Storage, StopsWhenAskedTo) {
  Stopper stopper;
  const Context context{nullptr, &stopper};
  const State patterns = test::random_patterns(3, 5, 1);
  EXPECT_FALSE(store({StorageRule::kStorkey, false}, patterns, context));
  EXPECT_FALSE(store({StorageRule::kPseudoInverse, false}, patterns, context));
}

}  // namespace
}  // namespace ergodic
