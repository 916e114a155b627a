#include "ergodic/estimator/diagnostics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>

#include "ergodic/core/error.hpp"
#include "ergodic/core/random.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kChains = 4;
constexpr std::size_t kDraws = 1000;
constexpr double kAll = kChains * kDraws;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Matrix<double> trace_of(std::initializer_list<std::initializer_list<double>> rows) {
  Matrix<double> out(rows.size(), rows.begin()->size());
  auto to = out.elements().begin();
  for (const auto& row : rows) to = std::copy(row.begin(), row.end(), to);
  return out;
}

/// f(chain, draw, z) with independent standard normal z.
template <class F>
Matrix<double> made(std::uint64_t repetition, const F& f, std::size_t chains = kChains, std::size_t draws = kDraws) {
  const Draw draw = Key{11}.at(Purpose::kTest, repetition);
  Matrix<double> out(chains, draws);
  for (std::uint32_t c = 0; c < chains; ++c) {
    for (std::uint32_t t = 0; t < draws; ++t) out(c, t) = f(c, t, draw.normal(c, t));
  }
  return out;
}

Matrix<double> independent(std::uint64_t repetition, std::size_t chains = kChains, std::size_t draws = kDraws) {
  return made(
      repetition, [](auto, auto, double z) { return z; }, chains, draws);
}

/// x_t = rho x_(t-1) + noise, of variance 1: correlation rho^|lag|, so autocorrelation time (1 + rho) / (1 - rho).
Matrix<double> autoregressive(double rho, std::uint64_t repetition) {
  double x = 0.0;
  return made(repetition, [&](std::size_t, std::size_t t, double z) {
    return x = t == 0 ? z : rho * x + std::sqrt(1.0 - rho * rho) * z;
  });
}

template <class F>
Matrix<double> mapped(Matrix<double> trace, const F& f) {
  for (double& v : trace.elements()) v = f(v);
  return trace;
}

/// If all draws are independent, B/W of R-hat^2 = (1 - 1/n) + B/(n W), n being half a chain, has an F distribution with
/// 7 and 8 (n - 1) degrees of freedom; for n = 500 it exceeds 5.8147 with probability 1e-6.
const double kLargestRHatByChance = std::sqrt(1.0 - 1.0 / 500 + 5.8147 / 500);

TEST(Diagnostics, ASmallExampleByHand) {
  // Halves (1, 2) and (3, 4); z = -a, -b, b, a with a = 1.049131, b = 0.299307, the normal quantiles of 0.625/4.25 and
  // 1.625/4.25 with the sign turned. Within: (a - b)^2 / 2 = 0.281118. Between: (a + b)^2 / 2 = 0.909143.
  // R-hat = sqrt(1/2 + 0.909143/0.281118) = 1.9324. The distances from the median, 1.5 0.5 0.5 1.5, agree.
  // Total 1.049702; lag 1: 1 - (0.281118 + 0.281118/4) / 1.049702 = 0.66524; time -1 + 2 (1 + 0.66524) = 2.33048.
  // Without ranks: within 1/2, between 2, total 9/4, lag 1: 1 - (5/8) / (9/4) = 13/18, time 2 + 4/9.
  const Diagnosis found = diagnose(trace_of({{1, 2, 3, 4}}));
  EXPECT_EQ(found.mean, 2.5);
  EXPECT_NEAR(found.r_hat, 1.9324, 1e-4);
  EXPECT_NEAR(found.ess_bulk, 4 / 2.33048, 1e-4);
  EXPECT_DOUBLE_EQ(found.autocorrelation_time, 22.0 / 9);
  EXPECT_DOUBLE_EQ(found.standard_error, std::sqrt(5.0 / 3 * 22 / 9 / 4));
  // The lower tail is the draw 1, the upper one is 4. The correlations leave no more than the bound, 4 log10(4).
  EXPECT_DOUBLE_EQ(found.ess_tail, 4 * std::log10(4.0));
}

TEST(Diagnostics, AgreesWithTheFormulasInNumPy) {
  // Ties, and an odd number of draws. SciPy's rankdata and norm.ppf, and sums over all lags, gave these numbers.
  const Diagnosis found = diagnose(trace_of({{1, 2, 2, 4, 5, 5, 9, 6, 5, 6, 4}, {2, 3, 1, 0, 2, 4, 4, 6, 7, 7, 8}}));
  EXPECT_NEAR(found.mean, 4.2272727272727275, 1e-14);
  EXPECT_NEAR(found.standard_error, 1.155107783369326, 1e-13);
  EXPECT_NEAR(found.r_hat, 1.629848927701876, 1e-13);
  EXPECT_NEAR(found.ess_bulk, 4.329561811562813, 1e-12);
  EXPECT_NEAR(found.ess_tail, 21.73913043478262, 1e-12);
  EXPECT_NEAR(found.autocorrelation_time, 4.976719576719576, 1e-12);
}

TEST(Diagnostics, NoPairOfCorrelationsCountsMoreThanTheOneBefore) {
  // The sums of neighbouring correlations are 1.198305, 0.111813, 0.690417, 0.374082: the last two count as the second.
  const Diagnosis found = diagnose(trace_of({{7, 9, 8, 5, 9, 9, 9, 0, 4, 6, 2, 3, 6, 8, 5, 1}}));
  EXPECT_NEAR(found.autocorrelation_time, -1 + 2 * (1.198305 + 3 * 0.111813), 1e-5);
}

TEST(Diagnostics, TheEvenLagAtTheEndCountsIfItIsPositive) {
  // The correlations at lags 1, 2, 3 are -0.012543, 0.111257, -0.320143: the second pair is negative.
  const Diagnosis found = diagnose(trace_of({{0, 0, 5, 1, 4, 6, 6, 9, 1, 7, 4, 9, 0, 2, 0, 2}}));
  EXPECT_NEAR(found.autocorrelation_time, -1 + 2 * (1 - 0.012543) + 0.111257, 1e-5);
}

TEST(Diagnostics, KnowsTheAutocorrelationTimeOfAnAutoregression) {
  // With a window of w lags the estimate has a relative standard error of sqrt(2 (2w + 1) / N) (Madras and Sokal 1988).
  // Geyer's rule ends the window where rho^w sinks into the noise of a correlation, s = sqrt(time(rho^2) / N) (Bartlett
  // 1946). What it loses there, or keeps because noise made it positive, is a few terms of size s: within 2 s, times
  // the time if they are correlated. The mean of 200 repetitions lies within that and 4 of its standard errors.
  // z = mean / error is standard normal to the same accuracy, so its square is 1 with standard error sqrt(2 / 200).
  constexpr int kRepetitions = 200;
  const auto time = [](double rho) { return (1.0 + rho) / (1.0 - rho); };
  for (const double rho : {-0.4, 0.0, 0.3, 0.6, 0.9}) {
    double times = 0.0, bulk_times = 0.0, squares = 0.0;
    for (int k = 0; k < kRepetitions; ++k) {
      const Diagnosis found = diagnose(autoregressive(rho, static_cast<std::uint64_t>(k)));
      times += found.autocorrelation_time / kRepetitions;
      bulk_times += kAll / found.ess_bulk / kRepetitions;
      squares += std::pow(found.mean / found.standard_error, 2) / kRepetitions;
    }
    const double noise = std::sqrt(time(rho * rho) / kAll);
    const double window = rho == 0.0 ? 1.0 : std::max(1.0, std::log(noise) / std::log(std::abs(rho)));
    const double error = time(rho) * std::sqrt(2.0 * (2.0 * window + 1.0) / kAll / kRepetitions);
    const double bias = 2.0 * noise * std::max(1.0, time(rho));
    EXPECT_NEAR(times, time(rho), bias + 4.0 * error) << rho;
    EXPECT_NEAR(bulk_times, time(rho), bias + 4.0 * error) << rho;  // ranks of normal draws are nearly the draws
    EXPECT_NEAR(squares, 1.0, bias / time(rho) + 4.0 * std::sqrt(2.0 / kRepetitions)) << rho;
  }
}

TEST(Diagnostics, IndependentDrawsAgreeAndCountInFull) {
  // As above with rho = 0: a single ESS has a relative standard error of about sqrt(2 (2 + 1) / N) = 0.039, and the
  // bias is 2 / sqrt(N) = 0.032. The tail ESS is the fewer of two, on average 0.56 standard errors below their mean.
  constexpr int kRepetitions = 200;
  double bulk = 0.0, tail = 0.0;
  for (int k = 0; k < kRepetitions; ++k) {
    const Diagnosis found = diagnose(independent(static_cast<std::uint64_t>(1000 + k)));
    ASSERT_LT(found.r_hat, kLargestRHatByChance) << k;
    bulk += found.ess_bulk / kAll / kRepetitions;
    tail += found.ess_tail / kAll / kRepetitions;
  }
  const double error = 0.039 / std::sqrt(double{kRepetitions});
  EXPECT_NEAR(bulk, 1.0, 0.032 + 4.0 * error);
  EXPECT_NEAR(tail, 1.0 - 0.56 * 0.039, 0.032 + 4.0 * error);
}

TEST(Diagnostics, HeavyTailsDoNotUpsetRanks) {
  const auto cauchy = [](double u) { return std::tan(std::numbers::pi * (u - 0.5)); };
  const Draw draw = Key{12}.at(Purpose::kTest);
  const Diagnosis found =
      diagnose(made(0, [&](std::uint32_t c, std::uint32_t t, double) { return cauchy(draw.uniform(c, t)); }));
  EXPECT_LT(found.r_hat, kLargestRHatByChance);
  // Independent draws, as in the test above; a single one.
  EXPECT_NEAR(found.ess_bulk / kAll, 1.0, 0.032 + 4.0 * 0.039);
  EXPECT_EQ(verdict_on(found).mixing, Mixing::kYes);
}

// In the next three a share of a quarter or more of the variance of the ranks lies between halves of chains, so that
// R-hat is at least sqrt(1 / (1 - 1/4)) = 1.15; the halves are so long that chance does not come near it.
TEST(Diagnostics, FindsChainsWithDifferentMeans) {
  const Diagnosis found = diagnose(made(1, [](std::size_t c, auto, double z) { return c == 0 ? z + 3.0 : z; }));
  EXPECT_GT(found.r_hat, 1.15);
  EXPECT_LT(found.ess_bulk, 100.0);
}

TEST(Diagnostics, FindsChainsWithDifferentScales) {
  const Diagnosis found = diagnose(made(2, [](std::size_t c, auto, double z) { return c == 0 ? 10.0 * z : z; }));
  EXPECT_GT(found.r_hat, 1.15);
}

TEST(Diagnostics, FindsATrendThatAllChainsShare) {
  const Diagnosis found =
      diagnose(made(3, [](auto, std::size_t t, double z) { return z + 5.0 * static_cast<double>(t) / kDraws; }));
  EXPECT_GT(found.r_hat, 1.15);
}

TEST(Diagnostics, RanksDoNotChangeUnderIncreasingMaps) {
  // The means differ, so that R-hat is that of the ranks and not of the distances from the median.
  const Matrix<double> trace = mapped(
      autoregressive(0.5, 4), [](double x) { return std::round(50.0 * x) / 64.0; });  // with ties, in steps of 1/64
  Matrix<double> apart = trace;
  for (double& v : apart.row(0)) v += 3.0;
  const Diagnosis before = diagnose(apart);
  const auto expect_same = [&](const Diagnosis& after) {
    EXPECT_EQ(after.r_hat, before.r_hat);
    EXPECT_EQ(after.ess_bulk, before.ess_bulk);
    EXPECT_EQ(after.ess_tail, before.ess_tail);
  };
  expect_same(diagnose(mapped(apart, [](double x) { return std::exp(x); })));
  expect_same(diagnose(mapped(apart, [](double x) { return x * x * x; })));
  expect_same(diagnose(mapped(apart, [](double x) { return 4.0 * x - 1.0; })));
}

TEST(Diagnostics, TwoValuesAreEnough) {
  const Draw draw = Key{13}.at(Purpose::kTest);
  for (const double share : {0.5, 0.03}) {  // of ones; with the smaller share both quantiles are zero
    const auto coin = [&](std::uint32_t c, std::uint32_t t, double) { return draw.uniform(c, t) < share ? 1.0 : 0.0; };
    const Diagnosis found = diagnose(made(0, coin));
    EXPECT_LT(found.r_hat, kLargestRHatByChance) << share;
    for (const double ess : {found.ess_bulk, found.ess_tail}) EXPECT_NEAR(ess / kAll, 1.0, 0.032 + 4.0 * 0.039);
  }
  // Exactly half of the draws each: all are equally far from the median.
  const auto alternating = [](std::size_t c, std::size_t t, double) { return (c + t / 3) % 2 == 0 ? -1.0 : 1.0; };
  EXPECT_TRUE(std::isfinite(diagnose(made(0, alternating, 4, 600)).r_hat));
}

TEST(Diagnostics, OneChainIsComparedWithItself) {
  const auto drift = [](auto, std::size_t t, double z) { return z + 0.01 * static_cast<double>(t); };
  EXPECT_EQ(verdict_on(diagnose(independent(5, 1, 4001))).mixing, Mixing::kYes);
  EXPECT_GT(diagnose(made(5, drift, 1, 401)).r_hat, 1.15);
}

TEST(Diagnostics, AConstantTellsOnlyItsMean) {
  const Diagnosis found = diagnose(made(0, [](auto, auto, double) { return 0.1; }));
  EXPECT_EQ(found.mean, 0.1);
  for (const double unknown :
       {found.standard_error, found.r_hat, found.ess_bulk, found.ess_tail, found.autocorrelation_time}) {
    EXPECT_TRUE(std::isnan(unknown));
  }
  EXPECT_EQ(verdict_on(found).mixing, Mixing::kUnknown);
  EXPECT_EQ(verdict_on(found).reason, "every draw is the same");
}

TEST(Diagnostics, ChainsThatNeverMoveAreWorthADrawEach) {
  // All correlations are 1: with halves of n draws the time is 2n - 1, so that 8 halves have 8n / (2n - 1) draws.
  const Diagnosis found = diagnose(made(0, [](std::size_t c, auto, double) { return 0.1 * static_cast<double>(c); }));
  EXPECT_EQ(found.r_hat, kInfinity);
  EXPECT_DOUBLE_EQ(found.ess_bulk, 8.0 * 500 / 999);
  EXPECT_EQ(verdict_on(found).mixing, Mixing::kNo);
}

TEST(Diagnostics, RefusesWhatIsNoTrace) {
  for (const double bad : {std::nan(""), kInfinity, -kInfinity}) {
    Matrix<double> trace = independent(6);
    trace(2, 17) = bad;
    try {
      diagnose(trace);
      FAIL();
    } catch (const NumericError& e) {
      EXPECT_NE(std::string(e.what()).find("chain 2, draw 17"), std::string::npos) << e.what();
    }
  }
  EXPECT_THROW(diagnose(Matrix<double>(4, 3)), UsageError);
  EXPECT_THROW(diagnose(Matrix<double>(0, 100)), UsageError);
}

TEST(Diagnostics, TheVerdictNamesEachReason) {
  EXPECT_EQ(verdict_on({0.0, 0.1, 1.009, 401, 401, 1.0}).mixing, Mixing::kYes);
  EXPECT_EQ(verdict_on({0.0, 0.1, 1.009, 401, 401, 1.0}).reason, "");
  const Verdict verdict = verdict_on({0.0, 0.1, 1.3456, 37.2, 400, 1.0});
  EXPECT_EQ(verdict.mixing, Mixing::kNo);
  EXPECT_EQ(
      verdict.reason,
      "the chains disagree (R-hat 1.346, should be below 1.01), too few independent draws (bulk ESS 37, should be "
      "above 400), too few independent draws of extremes (tail ESS 400, should be above 400)");
  EXPECT_EQ(verdict_on({0.0, 0.1, 1.01, 1000, 1000, 1.0}).mixing, Mixing::kNo);
}

}  // namespace
}  // namespace ergodic
