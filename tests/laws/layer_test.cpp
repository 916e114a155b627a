// Laws of layers, for every unit type by being listed once: each verb against the sum over a unit's values, or the
// integral; and of machines that couple them, against their own sums, integrals and derivatives.
#include "ergodic/model/layer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "brute_force.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/model/exact.hpp"
#include "ergodic/sampler/gibbs.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kLetters = 3;

/// Every unit type there is, with this many sites.
std::vector<Layer> all_layers(std::size_t sites) {
  return {Bernoulli{sites}, Spin{sites}, Potts{sites * kLetters, kLetters}, Gaussian{sites}, Relu{sites}};
}

/// Every pairing that can be coupled.
void for_each_pairing(std::size_t visible_sites, std::size_t hidden_sites, const std::function<void(Rbm&)>& f) {
  for (const Layer& visible : all_layers(visible_sites)) {
    for (const Layer& hidden : all_layers(hidden_sites)) {
      if (real_valued(visible) && real_valued(hidden)) continue;
      SCOPED_TRACE(std::string(name_of(visible)) + " - " + std::string(name_of(hidden)));
      Rbm rbm = test::random_machine(visible, hidden, 0.5, 11);
      f(rbm);
    }
  }
}

/// A value of a site as its units, with its weight in a sum or an integral.
struct Value {
  std::vector<double> units;
  double weight = 1.0;
};

/// All values of one site. Integrals by Simpson's rule in steps of at most 0.005: the integrands of these tests,
/// e^(x I - gamma x^2 / 2) with |I| up to 6 and gamma from 0.5 to 2, have their peaks, of a deviation of 0.7 to 1.4,
/// within 12 of zero, so that at 40 nothing is left of them.
std::vector<Value> values_of_site(const Layer& layer) {
  if (letters_of(layer) > 0) {
    std::vector<Value> out(kLetters, {std::vector<double>(kLetters), 1.0});
    for (std::size_t a = 0; a < kLetters; ++a) out[a].units[a] = 1.0;
    return out;
  }
  if (two_valued(layer)) return {{{levels_of(layer).low}, 1.0}, {{levels_of(layer).high}, 1.0}};
  constexpr int kSteps = 16000;
  const double begin = std::holds_alternative<Relu>(layer) ? 0.0 : -40.0, step = (40.0 - begin) / kSteps;
  std::vector<Value> out;
  for (int k = 0; k <= kSteps; ++k) {
    const double simpson = k == 0 || k == kSteps ? 1.0 : k % 2 == 1 ? 4.0 : 2.0;
    out.push_back({{begin + k * step}, simpson * step / 3.0});
  }
  return out;
}

/// One site under some fields and a precision: sums of f(value) over its values by weight.
class Site {
 public:
  Site(const Layer& layer, std::vector<double> fields, double log_precision)
      : values_(values_of_site(layer)), fields_(std::move(fields)), gamma_(std::exp(log_precision)) {
    if (!real_valued(layer)) gamma_ = 0.0;
  }
  double sum(const std::function<double(const std::vector<double>&)>& f) const {
    double total = 0.0;
    for (const Value& value : values_) {
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
  double mean(const std::function<double(const std::vector<double>&)>& f) const { return sum(f) / std::exp(log_sum()); }

 private:
  std::vector<Value> values_;
  std::vector<double> fields_;
  double gamma_;
};

/// Calls f(layer of one site, its fields and precision) over a grid of both.
template <class F>
void for_each_site(const F& f) {
  for (const Layer& layer : all_layers(1)) {
    SCOPED_TRACE(name_of(layer));
    for (const float log_precision : {-0.69f, 0.0f, 0.69f}) {
      for (double field = -6.0; field <= 6.0; field += 0.75) {
        std::vector<double> fields(units_of(layer), field);
        for (std::size_t k = 1; k < fields.size(); ++k) fields[k] = field * 0.3 - static_cast<double>(k);
        const std::vector<float> logs{log_precision};
        const std::vector<double> deviations{std::exp(-0.5 * log_precision)};
        const Precision precision = real_valued(layer) ? Precision{logs, deviations} : Precision{};
        f(layer, Row{fields, precision}, Site(layer, fields, log_precision));
      }
    }
  }
}

TEST(LayerLaws, LogSumIsTheLogOfTheSumOverValues) {
  for_each_site([](const Layer& layer, const Row& row, const Site& truth) {
    EXPECT_NEAR(log_sum(layer, row), truth.log_sum(), 1e-9) << row.fields[0];
  });
}

TEST(LayerLaws, LogSumsOfScaledFieldsChangeByTheirDifference) {
  for_each_site([](const Layer& layer, const Row& row, const Site&) {
    const auto at = [&](double t) {
      std::vector<double> scaled(row.fields.begin(), row.fields.end());
      for (double& field : scaled) field *= t;
      return log_sum(layer, {scaled, row.precision});
    };
    for (const double to : {0.301, 0.35, 1.0}) {
      // Small steps go by the derivative, with a sigmoid in single precision (kSigmoidError is 1e-6; spins take it
      // twice).
      const double near = 1e-12 + 2.5e-6 * (to - 0.3) * std::abs(row.fields[0]);
      EXPECT_NEAR(log_sum_change(layer, row, 0.3, to), at(to) - at(0.3), near);
    }
  });
}

TEST(LayerLaws, MeansAndSquaresAreThoseOfTheValues) {
  for_each_site([](const Layer& layer, const Row& row, const Site& truth) {
    std::vector<float> found(units_of(layer)), found_squares(units_of(layer));
    means(layer, row, found);
    for (std::size_t k = 0; k < found.size(); ++k) {
      const double mean = truth.mean([&](const auto& units) { return units[k]; });
      EXPECT_NEAR(found[k], mean, 1e-6 * (1.0 + std::abs(mean))) << row.fields[0];
    }
    if (!real_valued(layer)) return;
    squares(layer, row, found_squares);
    const double square = truth.mean([](const auto& units) { return units[0] * units[0]; });
    EXPECT_NEAR(found_squares[0], square, 1e-6 * (1.0 + square)) << row.fields[0];
  });
}

TEST(LayerLaws, DrawsHaveTheMomentsOfTheValues) {
  constexpr std::uint32_t kDraws = 20000;
  for_each_site([](const Layer& layer, const Row& row, const Site& truth) {
    State state = make_state(layer, kDraws);
    const Draw numbers = Key{3}.at(Purpose::kTest, 5);
    for (std::uint32_t r = 0; r < kDraws; ++r) draw(layer, row, {numbers, r, state, r});
    for (std::size_t k = 0; k < units_of(layer); ++k) {
      for (const int power : {1, 2, 3}) {
        const auto moment = [&](const std::vector<double>& units) { return std::pow(units[k], power); };
        const double mean = truth.mean(moment);
        const double variance = truth.mean([&](const auto& units) { return std::pow(moment(units) - mean, 2); });
        double found = 0.0;
        for (std::uint32_t r = 0; r < kDraws; ++r) found += std::pow(state.value(r, k), power) / kDraws;
        // About a thousand comparisons, many of the same numbers: five standard errors.
        EXPECT_NEAR(found, mean, 5.0 * std::sqrt(variance / kDraws) + 1e-6) << "field " << row.fields[0];
      }
    }
  });
}

TEST(LayerLaws, NothingOverflowsUnderHugeFields) {
  for (const Layer& layer : all_layers(1)) {
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
  for (const Layer& layer : {Layer(Bernoulli{3}), Layer(Spin{3}), Layer(Potts{3, 3}), Layer(Gaussian{3})}) {
    const std::vector<double> shares{0.2, 0.5, 0.3}, deviations{0.5, 1.0, 2.0};
    std::vector<double> targets = shares;
    if (two_valued(layer)) {
      for (double& t : targets) t = levels_of(layer).low + levels_of(layer).gap() * t;
    }
    std::vector<float> logs, found(3);
    for (const double d : deviations) logs.push_back(static_cast<float>(-2.0 * std::log(d)));
    const std::vector<double> fields = fields_for_means(layer, targets, deviations, 1e-3);
    means(layer, {fields, {logs, deviations}}, found);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(found[k], targets[k], 1e-6) << name_of(layer);
    for (const double extreme : {0.0, 1.0}) {
      const std::vector<double> all(3, extreme);
      for (const double f : fields_for_means(layer, all, deviations, 1e-3)) EXPECT_TRUE(std::isfinite(f));
    }
  }
}

TEST(LayerLaws, BadLayersAndPairingsAreRefused) {
  EXPECT_THROW(make_layer("quantum", 3), UsageError);
  EXPECT_THROW(make_layer("bernoulli", 0), UsageError);
  EXPECT_THROW(make_layer("potts", 6, 1), UsageError);
  EXPECT_THROW(make_layer("potts", 7, 3), UsageError);
  for (const Layer& layer : all_layers(3)) {
    EXPECT_EQ(name_of(make_layer(name_of(layer), units_of(layer), letters_of(layer))), name_of(layer));
    EXPECT_THROW(state_of(layer, real_valued(layer) ? Values(Bits(2, 3)) : Values(Matrix<float>(2, 3))), DataError);
  }
  EXPECT_THROW(Rbm(Gaussian{2}, Gaussian{2}), UsageError);
  EXPECT_THROW(Rbm(Gaussian{2}, Relu{2}), UsageError);
}

/// Some rows of visible values.
State some_rows(const Rbm& rbm, std::size_t count) {
  Chains chains = far_start(rbm, count, Key{8}, {});
  return chains.layers[Rbm::kVisible];
}

TEST(MachineLaws, TheFreeEnergySumsToZ) {
  // Over all values of one visible site: sums, or Simpson's rule on a real axis.
  for_each_pairing(1, 3, [](Rbm& rbm) {
    const std::vector<Value> values = values_of_site(rbm.visible());
    State rows = rbm.make_state(Rbm::kVisible, values.size());
    for (std::size_t r = 0; r < values.size(); ++r) {
      for (std::size_t k = 0; k < rows.units(); ++k) {
        rows.real() ? void(rows.reals()(r, k) = static_cast<float>(values[r].units[k]))
                    : rows.bits().set(r, k, values[r].units[k] > 0.0);
      }
    }
    const std::vector<double> free_energies = rbm.free_energy(rows, {});
    double z = 0.0;
    for (std::size_t r = 0; r < values.size(); ++r) z += values[r].weight * std::exp(-free_energies[r]);
    // Places on the axis are floats, off by up to 1e-6.
    EXPECT_NEAR(*exact_log_z(rbm, {}), std::log(z), 1e-6);
  });
}

TEST(MachineLaws, EnergyAndFreeEnergyAgree) {
  // F(x) = E(x, v) + log p(v | x) for any v: here for the mode of a discrete hidden layer.
  for_each_pairing(4, 3, [](Rbm& rbm) {
    if (real_valued(rbm.hidden())) return;
    const State rows = some_rows(rbm, 5);
    const State hidden = rbm.make_state(Rbm::kHidden, 5);
    const Matrix<float> means = rbm.conditional_means(Rbm::kHidden, rows, {});
    const std::vector<double> energies = rbm.energy(rows, hidden, {}), free_energies = rbm.free_energy(rows, {});
    const std::size_t letters = letters_of(rbm.hidden());
    for (std::size_t r = 0; r < 5; ++r) {
      double log_p = 0.0;  // of all low, or all first letters
      for (std::size_t k = 0; k < hidden.units(); ++k) {
        if (letters > 0 && k % letters != 0) continue;
        const double share =
            letters > 0 ? means(r, k) : (levels_of(rbm.hidden()).high - means(r, k)) / levels_of(rbm.hidden()).gap();
        log_p += std::log(share);
      }
      EXPECT_NEAR(free_energies[r], energies[r] + log_p, 1e-5);  // means are floats
    }
  });
}

TEST(MachineLaws, TheGradientOfTheLikelihoodIsItsDerivative) {
  for_each_pairing(3, 2, [](Rbm& rbm) {
    const State rows = some_rows(rbm, 4);
    const double weight = 0.25;
    Statistics gradient(rbm.parameters().values().size());
    rbm.add_statistics(Rbm::kVisible, rows, rbm.conditional_moments(Rbm::kHidden, rows, {}), {&weight, 1}, gradient,
                       {});
    const Statistics model = exact_statistics(rbm, {});
    const auto likelihood_at = [&](std::size_t k, float value) {
      rbm.update([&](Parameters& p) { p.values()[k] = value; }, {});
      double sum = 0.0;
      for (const double f : rbm.free_energy(rows, {})) sum -= weight * f;
      return sum - *exact_log_z(rbm, {});
    };
    for (std::size_t k = 0; k < gradient.size(); ++k) {
      const float here = rbm.parameters().values()[k];
      const float up = here + 1e-3f, down = here - 1e-3f;
      const double slope = (likelihood_at(k, up) - likelihood_at(k, down)) / (double{up} - down);
      likelihood_at(k, here);
      // Central differences err by h^2/6 times the third derivative: 1e-6 / 6 times a third cumulant, which for real
      // units may be some tens. Means are floats.
      EXPECT_NEAR(gradient[k] - model[k], slope, 1e-5 * (1.0 + std::abs(slope))) << k;
    }
  });
}

TEST(MachineLaws, ThePseudoLikelihoodIsTheSumOfConditionals) {
  for_each_pairing(3, 2, [](Rbm& rbm) {
    if (real_valued(rbm.visible())) return;
    const State rows = some_rows(rbm, 3);
    Matrix<std::uint32_t> sites(3, 3);
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::uint32_t s = 0; s < 3; ++s) sites(r, s) = s;
    }
    const Matrix<double> found = rbm.site_log_probabilities(rows, sites, {});
    const std::size_t letters = letters_of(rbm.visible()), values = std::max<std::size_t>(letters, 2);
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t s = 0; s < 3; ++s) {
        double all = 0.0, present = 0.0;
        for (std::size_t a = 0; a < values; ++a) {
          State changed = rows;
          if (letters == 0) changed.bits().set(r, s, a == 1);
          for (std::size_t b = 0; b < letters; ++b) changed.bits().set(r, s * letters + b, a == b);
          const double weight = std::exp(-rbm.free_energy(changed, {})[r]);
          all += weight;
          if (changed == rows) present = weight;
        }
        EXPECT_NEAR(found(r, s), std::log(present / all), 1e-9);
      }
    }
  });
}

/// The exact distribution of a discrete layer of two sites in its machine.
std::vector<double> marginal_of(const Rbm& rbm, std::size_t block) {
  // By a machine with the roles exchanged, whose free energy is that of this layer.
  Rbm turned(rbm.layer(block), rbm.layer(1 - block));
  turned.update(
      [&](Parameters& p) {
        const auto copy = [&](const char* to, const char* from) {
          std::copy(rbm.parameters()[from].begin(), rbm.parameters()[from].end(), p[to].begin());
        };
        const auto w = rbm.weights();
        const bool same = block == Rbm::kVisible;
        for (std::size_t i = 0; i < w.rows(); ++i) {
          for (std::size_t j = 0; j < w.cols(); ++j) p["weights"][same ? i * w.cols() + j : j * w.rows() + i] = w(i, j);
        }
        copy("visible_bias", same ? "visible_bias" : "hidden_bias");
        copy("hidden_bias", same ? "hidden_bias" : "visible_bias");
        if (real_valued(rbm.layer(1 - block))) copy("hidden_log_precision", Rbm::precision_slot(1 - block));
      },
      {});
  const std::size_t letters = letters_of(rbm.layer(block)), values = std::max<std::size_t>(letters, 2);
  std::vector<double> out(values * values);
  double total = 0.0;
  for (std::size_t a = 0; a < values; ++a) {
    for (std::size_t b = 0; b < values; ++b) {
      State state(1, units_of(rbm.layer(block)), levels_of(rbm.layer(block)));
      letters > 0 ? state.bits().set(0, a, true) : state.bits().set(0, 0, a == 1);
      letters > 0 ? state.bits().set(0, letters + b, true) : state.bits().set(0, 1, b == 1);
      total += out[test::index_of(state, 0, letters)] = std::exp(-turned.free_energy(state, {})[0]);
    }
  }
  for (double& p : out) p /= total;
  return out;
}

TEST(MachineLaws, GibbsReachesTheDistributionOfEachDiscreteLayer) {
  // Chains are independent, so counts of the states of a layer follow the multinomial.
  constexpr std::size_t kChains = 20000;
  for_each_pairing(2, 2, [](Rbm& rbm) {
    Chains chains = far_start(rbm, kChains, Key{5}, {});
    for (int s = 0; s < 30; ++s) step(Gibbs{}, rbm, chains, Key{6}, {});
    for (const std::size_t block : {Rbm::kVisible, Rbm::kHidden}) {
      if (real_valued(rbm.layer(block))) continue;
      const std::vector<double> truth = marginal_of(rbm, block);
      std::vector<std::size_t> counts(truth.size());
      for (std::size_t c = 0; c < kChains; ++c) {
        ++counts[test::index_of(chains.layers[block], c, letters_of(rbm.layer(block)))];
      }
      const test::ChiSquare found = test::chi_square(counts, truth);
      EXPECT_LT(found.value, found.critical()) << "layer " << block;
    }
  });
}

/// A copy of a row of visible values for each value that one site can have.
State with_each_value(const Rbm& rbm, const State& row, std::size_t site, const std::vector<Value>& values) {
  State out = rbm.make_state(Rbm::kVisible, values.size());
  const std::size_t width = values[0].units.size();
  for (std::size_t r = 0; r < values.size(); ++r) {
    for (std::size_t k = 0; k < out.units(); ++k) {
      const double value = k / width == site ? values[r].units[k % width] : row.value(0, k);
      out.real() ? void(out.reals()(r, k) = static_cast<float>(value)) : out.bits().set(r, k, value > 0.0);
    }
  }
  return out;
}

TEST(MachineLaws, GibbsReachesTheDistributionGivenTheUnitsThatStay) {
  // Of two visible sites one stays, in odd chains the first, in even ones the second. What is left has the density
  // e^-F(x) along one axis.
  constexpr std::size_t kChains = 20000;
  for_each_pairing(2, 2, [](Rbm& rbm) {
    const State row = some_rows(rbm, 1);
    const std::vector<Value> values = values_of_site(rbm.visible());
    const std::size_t width = values[0].units.size();
    Bits fixed(kChains, row.units());
    for (std::size_t c = 0; c < kChains; ++c) {
      for (std::size_t k = 0; k < width; ++k) fixed.set(c, k + (c % 2 == 0 ? width : 0), true);
    }
    State start = rbm.make_state(Rbm::kVisible, kChains);
    for (std::size_t c = 0; c < kChains; ++c) {
      for (std::size_t k = 0; k < row.units(); ++k) {
        row.real() ? void(start.reals()(c, k) = row.reals()(0, k)) : start.bits().set(c, k, row.bits().get(0, k));
      }
    }
    Chains chains = start_at(rbm, start, 0, Key{5}, {});
    for (int s = 0; s < 30; ++s) step(Gibbs{fixed}, rbm, chains, Key{6}, {});
    for (const std::size_t free : {0u, 1u}) {
      const std::vector<double> free_energies = rbm.free_energy(with_each_value(rbm, row, free, values), {});
      for (std::size_t k = 0; k < width; ++k) {
        double z = 0.0, mean = 0.0, square = 0.0, found = 0.0;
        for (std::size_t r = 0; r < values.size(); ++r) {
          const double weight = values[r].weight * std::exp(-free_energies[r]), value = values[r].units[k];
          z += weight;
          mean += weight * value;
          square += weight * value * value;
        }
        mean /= z;
        for (std::size_t c = free; c < kChains; c += 2) {
          found += chains.layers[0].value(c, free * width + k) / (0.5 * kChains);
          ASSERT_EQ(chains.layers[0].value(c, (1 - free) * width + k), row.value(0, (1 - free) * width + k));
        }
        // About a hundred comparisons: four standard errors.
        EXPECT_NEAR(found, mean, 4.0 * std::sqrt((square / z - mean * mean) / (0.5 * kChains))) << free << " " << k;
      }
    }
  });
}

TEST(MachineLaws, AMaskHasARowForAllChainsOrForEachAndWholeSites) {
  for_each_pairing(2, 2, [](Rbm& rbm) {
    Chains chains = far_start(rbm, 3, Key{5}, {});
    const std::size_t units = units_of(rbm.visible());
    const auto draw_given = [&](const Bits& fixed) {
      rbm.resample_given(fixed, Rbm::kVisible, chains.layers, Key{1}.at(Purpose::kGibbs), 0, {});
    };
    EXPECT_NO_THROW(draw_given(Bits(1, units)));
    EXPECT_NO_THROW(draw_given(Bits(3, units)));
    for (const Bits& fixed : {Bits(2, units), Bits(3, units + 1), Bits(0, units)}) {
      EXPECT_THROW(draw_given(fixed), UsageError);
    }
    Bits part(3, units);
    part.set(2, 1, true);
    if (letters_of(rbm.visible()) > 0) {
      EXPECT_THROW(draw_given(part), UsageError);
    } else {
      EXPECT_NO_THROW(draw_given(part));
    }
  });
}

}  // namespace
}  // namespace ergodic
