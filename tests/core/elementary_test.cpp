#include "ergodic/core/elementary.hpp"

#include <gtest/gtest.h>

#include <numbers>

namespace ergodic {
namespace {

TEST(Elementary, ExpAgreesWithLongDouble) {
  for (double x = -700.0; x < 700.0; x += 0.37) {
    const auto truth = static_cast<double>(std::exp(static_cast<long double>(x)));
    EXPECT_NEAR(portable_exp(x) / truth, 1.0, 1e-15) << x;
  }
  EXPECT_EQ(portable_exp(0.0), 1.0);
  EXPECT_EQ(portable_exp(-1000.0), 0.0);
  EXPECT_EQ(portable_exp(-std::numeric_limits<double>::infinity()), 0.0);
  EXPECT_EQ(portable_exp(1000.0), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(portable_exp(std::nan(""))));
}

TEST(Elementary, ExpWithoutBranchesHasTheSameBits) {
  for (double x = -700.0; x <= 700.0; x += 0.0371) EXPECT_EQ(exp_within(x), portable_exp(x)) << x;
  EXPECT_EQ(exp_within(700.0), portable_exp(700.0));
  EXPECT_TRUE(std::isnan(exp_within(std::nan(""))));
}

TEST(Elementary, LogAgreesWithLongDouble) {
  for (double x = 1e-300; x < 1e300; x *= 1.731) {
    const long double truth = std::log(static_cast<long double>(x));
    const auto scale = std::max(1e-3L, std::abs(truth));
    EXPECT_LT(std::abs(static_cast<long double>(portable_log(x)) - truth) / scale, 1e-15L) << x;
  }
  EXPECT_EQ(portable_log(1.0), 0.0);
  EXPECT_EQ(portable_log(0.0), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(portable_log(-1.0)));
  EXPECT_TRUE(std::isnan(portable_log(std::nan(""))));
}

TEST(Elementary, SigmoidAndSoftplusHoldInTheTails) {
  EXPECT_DOUBLE_EQ(sigmoid(0.0), 0.5);
  EXPECT_EQ(sigmoid(800.0), 1.0);
  EXPECT_EQ(sigmoid(-800.0), 0.0);
  EXPECT_DOUBLE_EQ(sigmoid(-30.0), std::exp(-30.0) / (1 + std::exp(-30.0)));
  EXPECT_EQ(softplus(1e4), 1e4);
  EXPECT_NEAR(softplus(-40.0) / std::exp(-40.0), 1.0, 1e-14);
  for (double x = -30.0; x < 30.0; x += 0.13) EXPECT_NEAR(softplus(x), std::log1p(std::exp(x)), 1e-14 * (1 + x * x));
}

TEST(Elementary, LogAddIsNeutralAtMinusInfinity) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(log_add(kNone, 3.0), 3.0);
  EXPECT_EQ(log_add(3.0, kNone), 3.0);
  EXPECT_EQ(log_add(kNone, kNone), kNone);
  EXPECT_NEAR(log_add(1000.0, 1000.0), 1000.0 + std::log(2.0), 1e-12);
}

TEST(Elementary, CosineOfHalfTurns) {
  for (double t = 0.0; t <= 1.0; t += 0.01) EXPECT_NEAR(cos_pi(t), std::cos(std::numbers::pi * t), 3e-16) << t;
  EXPECT_EQ(cos_pi(0.5), 0.0);
}

TEST(Elementary, NormalQuantileInvertsTheDistribution) {
  const auto cdf = [](double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); };
  for (const double p : {1e-15, 1e-12, 1e-6, 0.001, 0.07, 0.075, 0.3, 0.5, 0.6, 0.925, 0.95, 0.999, 1 - 1e-9}) {
    EXPECT_NEAR(cdf(normal_quantile(p)) / p, 1.0, 1e-12) << p;
  }
}

}  // namespace
}  // namespace ergodic
