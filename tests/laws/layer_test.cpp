// Laws of layers, for every unit type by being listed once: each verb against the sum over a unit's values, or the
// integral.
#include "ergodic/model/layer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "brute_force.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/model/rbm.hpp"
#include "laws/site_values.hpp"

namespace ergodic {
namespace {

using test::all_layers;
using test::layers_of_one_part;
using test::small_layers;

/// One site under some fields and a precision: sums of f(value) over its values by weight.
class SiteTruth {
 public:
  SiteTruth(const Layer& layer, const Site& site, std::vector<double> fields, double log_precision)
      : values_(test::values_of_site(layer, site)), fields_(std::move(fields)), gamma_(std::exp(log_precision)) {
    if (!real_valued(layer)) gamma_ = 0.0;
  }
  double sum(const std::function<double(const std::vector<double>&)>& f) const {
    double total = 0.0;
    for (const test::SiteValue& value : values_) {
      double exponent = 0.0;
      for (std::size_t k = 0; k < fields_.size(); ++k) {
        exponent += value.units[k] * fields_[k] - 0.5 * gamma_ * value.units[k] * value.units[k];
      }
      total += value.weight * std::exp(exponent) * f(value.units);
    }
    return total;
  }
  double log_sum() const {
    return std::log(sum([](const auto&) { return 1.0; }));
  }

 private:
  std::vector<test::SiteValue> values_;
  std::vector<double> fields_;
  double gamma_;
};

/// A layer under some fields: its sites are independent.
class Truth {
 public:
  Truth(const Layer& layer, const std::vector<double>& fields, double log_precision) {
    for (const Site& site : sites(layer)) {
      const auto begin = fields.begin() + static_cast<std::ptrdiff_t>(site.first);
      const std::vector<double> own(begin, begin + static_cast<std::ptrdiff_t>(site.size));
      for (std::size_t k = 0; k < site.size; ++k) places_.push_back({sites_.size(), k});
      sites_.emplace_back(layer, site, own, log_precision);
    }
  }
  double log_sum() const {
    double sum = 0.0;
    for (const SiteTruth& site : sites_) sum += site.log_sum();
    return sum;
  }
  /// The mean of f(value of a unit).
  double mean(std::size_t unit, const std::function<double(double)>& f) const {
    const auto [site, k] = places_[unit];
    return sites_[site].sum([&, k = k](const auto& units) { return f(units[k]); }) / std::exp(sites_[site].log_sum());
  }

 private:
  struct Place {
    std::size_t site, unit;
  };
  std::vector<SiteTruth> sites_;
  std::vector<Place> places_;
};

/// Calls f(layer, its fields and precision, the truth) over a grid of both.
template <class F>
void for_each_field(const F& f) {
  for (const Layer& layer : small_layers()) {
    SCOPED_TRACE(name_of(layer));
    for (const float log_precision : {-0.69f, 0.0f, 0.69f}) {
      if (log_precision != 0.0f && !real_valued(layer)) continue;
      for (double field = -6.0; field <= 6.0; field += 0.75) {
        std::vector<double> fields(units_of(layer), field);
        for (std::size_t k = 1; k < fields.size(); ++k) fields[k] = field * 0.3 - static_cast<double>(k % 3);
        const std::vector<float> logs{log_precision};
        const std::vector<double> deviations{std::exp(-0.5 * log_precision)};
        const Precision precision = real_valued(layer) ? Precision{logs, deviations} : Precision{};
        f(layer, LayerFields{fields, precision}, Truth(layer, fields, log_precision));
      }
    }
  }
}

TEST(LayerLaws, LogSumIsTheLogOfTheSumOverValues) {
  for_each_field([](const Layer& layer, const LayerFields& at, const Truth& truth) {
    EXPECT_NEAR(log_sum(layer, at), truth.log_sum(), 1e-9) << at.fields[0];
  });
}

TEST(LayerLaws, LogSumsOfScaledFieldsChangeByTheirDifference) {
  for_each_field([](const Layer& layer, const LayerFields& at, const Truth&) {
    const auto log_sum_at = [&](double t) {
      std::vector<double> scaled(at.fields.begin(), at.fields.end());
      for (double& field : scaled) field *= t;
      return log_sum(layer, {scaled, at.precision});
    };
    double reach = 0.0;
    for (const double field : at.fields) reach += std::abs(field);
    for (const double to : {0.301, 0.35, 1.0}) {
      // Small steps go by the derivative, with a sigmoid in single precision (kSigmoidError is 1e-6; spins take it
      // twice).
      const double near = 1e-12 + 2.5e-6 * (to - 0.3) * reach;
      EXPECT_NEAR(log_sum_change(layer, at, 0.3, to), log_sum_at(to) - log_sum_at(0.3), near);
    }
  });
}

TEST(LayerLaws, MeansAndSquaresAreThoseOfTheValues) {
  for_each_field([](const Layer& layer, const LayerFields& at, const Truth& truth) {
    std::vector<float> found(units_of(layer)), found_squares(units_of(layer));
    means(layer, at, found);
    for (std::size_t k = 0; k < found.size(); ++k) {
      const double mean = truth.mean(k, [](double value) { return value; });
      EXPECT_NEAR(found[k], mean, 1e-6 * (1.0 + std::abs(mean))) << at.fields[0];
    }
    if (!real_valued(layer)) return;
    squares(layer, at, found_squares);
    const double square = truth.mean(0, [](double value) { return value * value; });
    EXPECT_NEAR(found_squares[0], square, 1e-6 * (1.0 + square)) << at.fields[0];
  });
}

TEST(LayerLaws, DrawsHaveTheMomentsOfTheValues) {
  constexpr std::uint32_t kDraws = 20000;
  for_each_field([](const Layer& layer, const LayerFields& at, const Truth& truth) {
    State state = make_state(layer, kDraws);
    const Draw numbers = Key{3}.at(Purpose::kTest, 5);
    for (std::uint32_t r = 0; r < kDraws; ++r) draw(layer, at, {numbers, r, state, r});
    for (std::size_t k = 0; k < units_of(layer); ++k) {
      for (const int power : {1, 2, 3}) {
        const double mean = truth.mean(k, [&](double value) { return std::pow(value, power); });
        const double variance = truth.mean(k, [&](double value) { return std::pow(std::pow(value, power) - mean, 2); });
        double found = 0.0;
        for (std::uint32_t r = 0; r < kDraws; ++r) found += std::pow(state.value(r, k), power) / kDraws;
        // About a thousand comparisons, many of the same numbers: five standard errors.
        EXPECT_NEAR(found, mean, 5.0 * std::sqrt(variance / kDraws) + 1e-6) << "field " << at.fields[0];
      }
    }
  });
}

TEST(LayerLaws, NothingOverflowsUnderHugeFields) {
  for (const Layer& layer : small_layers()) {
    const std::vector<float> logs{0.0f};
    const std::vector<double> deviations{1.0};
    const Precision precision = real_valued(layer) ? Precision{logs, deviations} : Precision{};
    for (const double field : {1e5, -1e5, 1e3, -1e3, 38.0, -38.0}) {
      std::vector<double> fields(units_of(layer));
      fields[0] = field;
      std::vector<float> mean(units_of(layer));
      means(layer, {fields, precision}, mean);
      EXPECT_TRUE(std::isfinite(log_sum(layer, {fields, precision}))) << name_of(layer) << field;
      EXPECT_TRUE(std::isfinite(mean[0])) << name_of(layer) << field;
      State state = make_state(layer, 1);
      draw(layer, {fields, precision}, {Key{1}.at(Purpose::kTest), 0, state, 0});
      EXPECT_TRUE(std::isfinite(state.value(0, 0))) << name_of(layer) << field;
    }
  }
}

TEST(LayerLaws, TheFieldsForMeansGiveThoseMeans) {
  for (const Layer& layer : all_layers(3)) {
    if (data_values(layer) == UnitValues::kNonnegativeReals) continue;  // nothing is said of what is cut off
    std::vector<double> targets, deviations;
    for (const Site& site : sites(layer)) {
      constexpr double kShares[] = {0.2, 0.5, 0.2, 0.1};
      for (std::size_t a = 0; a < site.size; ++a) {
        const double left = a == 2 && site.size == 3 ? 0.1 : 0.0;  // of three letters the last has the rest
        targets.push_back(kShares[a] + left);
        deviations.push_back(0.5 + 0.5 * static_cast<double>(targets.size()));
      }
    }
    if (two_valued(layer)) {
      for (double& t : targets) t = levels_of(layer).low + levels_of(layer).gap() * t;
    }
    const std::size_t units = targets.size();
    std::vector<float> logs, found(units);
    for (const double d : deviations) logs.push_back(static_cast<float>(-2.0 * std::log(d)));
    const std::vector<double> fields = fields_for_means(layer, targets, deviations, 1e-3);
    means(layer, {fields, {logs, deviations}}, found);
    for (std::size_t k = 0; k < units; ++k) EXPECT_NEAR(found[k], targets[k], 1e-6) << name_of(layer);
    for (const double extreme : {0.0, 1.0}) {
      const std::vector<double> all(units, extreme);
      for (const double f : fields_for_means(layer, all, deviations, 1e-3)) EXPECT_TRUE(std::isfinite(f));
    }
  }
}

TEST(LayerLaws, BadLayersAndPairingsAreRefused) {
  EXPECT_THROW(make_layer("quantum", 3), UsageError);
  EXPECT_THROW(make_layer("bernoulli", 0), UsageError);
  EXPECT_THROW(make_layer("potts", 6, 1), UsageError);
  EXPECT_THROW(make_layer("potts", 7, 3), UsageError);
  for (const Layer& layer : layers_of_one_part(3)) {
    EXPECT_EQ(make_layer(name_of(layer), units_of(layer), letters_of(layer)), layer);
  }
  for (const Layer& layer : all_layers(3)) {
    EXPECT_THROW(state_of(layer, real_valued(layer) ? Values(Bits(2, 3)) : Values(Matrix<float>(2, 3))), DataError);
  }
  EXPECT_THROW(Rbm(Gaussian{2}, Gaussian{2}), UsageError);
  EXPECT_THROW(Rbm(Gaussian{2}, Relu{2}), UsageError);
}

}  // namespace
}  // namespace ergodic
