// Laws of layers, for every unit type by being listed once: each verb against the sum over a unit's values, or the
// integral; and of machines that couple them, against their own sums, integrals and derivatives.
#include "ergodic/model/layer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "brute_force.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/model/exact_rbm.hpp"
#include "ergodic/model/rbm_pseudo_likelihood.hpp"
#include "ergodic/sampler/gibbs.hpp"

namespace ergodic {
namespace {

using test::all_layers;
using test::all_states;
using test::joined_layers;
using test::layers_of_one_part;

/// Every pairing of these layers that can be coupled.
void for_each_pairing(const std::vector<Layer>& visible_layers, const std::vector<Layer>& hidden_layers,
                      const std::function<void(Rbm&)>& f) {
  for (const Layer& visible : visible_layers) {
    for (const Layer& hidden : hidden_layers) {
      if (real_valued(visible) && real_valued(hidden)) continue;
      SCOPED_TRACE(name_of(visible) + " - " + name_of(hidden));
      Rbm rbm = test::random_machine(visible, hidden, 0.5, 11);
      f(rbm);
    }
  }
}

/// Every pairing of layers with this many sites.
void for_each_pairing(std::size_t visible_sites, std::size_t hidden_sites, const std::function<void(Rbm&)>& f) {
  for_each_pairing(all_layers(visible_sites), all_layers(hidden_sites), f);
}

/// A value of a site as its units, with its weight in a sum or an integral.
struct Value {
  std::vector<double> units;
  double weight = 1.0;
};

/// All values of one site. Integrals by Simpson's rule in steps of at most 0.005: the integrands of these tests,
/// e^(x I - gamma x^2 / 2) with |I| up to 6 and gamma from 0.5 to 2, have their peaks, of a deviation of 0.7 to 1.4,
/// within 12 of zero, so that at 40 nothing is left of them.
std::vector<Value> values_of_site(const Layer& layer, const Site& site) {
  if (site.size > 1) {
    std::vector<Value> out(site.size, {std::vector<double>(site.size), 1.0});
    for (std::size_t a = 0; a < site.size; ++a) out[a].units[a] = 1.0;
    return out;
  }
  if (!real_valued(layer)) return {{{levels_of(layer).low}, 1.0}, {{levels_of(layer).high}, 1.0}};
  constexpr int kSteps = 16000;
  const double begin = data_values(layer) == UnitValues::kNonnegativeReals ? 0.0 : -40.0;
  const double step = (40.0 - begin) / kSteps;
  std::vector<Value> out;
  for (int k = 0; k <= kSteps; ++k) {
    const double simpson = k == 0 || k == kSteps ? 1.0 : k % 2 == 1 ? 4.0 : 2.0;
    out.push_back({{begin + k * step}, simpson * step / 3.0});
  }
  return out;
}

/// One site under some fields and a precision: sums of f(value) over its values by weight.
class SiteTruth {
 public:
  SiteTruth(const Layer& layer, const Site& site, std::vector<double> fields, double log_precision)
      : values_(values_of_site(layer, site)), fields_(std::move(fields)), gamma_(std::exp(log_precision)) {
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

 private:
  std::vector<Value> values_;
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

/// Layers of one site, and those of as few as have several parts.
std::vector<Layer> small_layers() {
  std::vector<Layer> out = layers_of_one_part(1);
  for (const Layer& layer : joined_layers(3)) out.push_back(layer);
  return out;
}

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

TEST(JoinedLayers, NeedPartsOfBitsWithTheSameLevels) {
  EXPECT_THROW(joined({}), UsageError);
  EXPECT_THROW(joined({Bernoulli{3}, Spin{3}}), UsageError);
  EXPECT_THROW(joined({Potts{3, 3}, Spin{3}}), UsageError);
  EXPECT_THROW(joined({Bernoulli{3}, Gaussian{3}}), UsageError);
  EXPECT_THROW(joined({Relu{3}, Bernoulli{3}}), UsageError);
  EXPECT_THROW(joined({Bernoulli{3}, Potts{7, 3}}), UsageError);
  EXPECT_THROW(joined({Bernoulli{0}, Potts{6, 3}}), UsageError);
  EXPECT_EQ(joined({Potts{6, 3}}), Layer(Potts{6, 3}));
}

TEST(JoinedLayers, AnswerForAllTheirParts) {
  const Layer layer = joined({Bernoulli{2}, Potts{6, 3}, Potts{4, 4}});
  EXPECT_EQ(name_of(layer), "bernoulli+potts+potts");
  EXPECT_EQ(units_of(layer), 12u);
  EXPECT_EQ(sites(layer), (std::vector<Site>{{0, 1}, {1, 1}, {2, 3}, {5, 3}, {8, 4}}));
  EXPECT_EQ(sites_of(layer), 5u);
  EXPECT_DOUBLE_EQ(log2_states(layer), 2.0 + 2.0 * std::log2(3.0) + 2.0);
  EXPECT_FALSE(two_valued(layer));
  EXPECT_TRUE(two_valued(joined({Spin{2}, Spin{3}})));
  EXPECT_THROW(letters_of(layer), UsageError);
  EXPECT_EQ(even_shares(layer)[1], 0.5);
  EXPECT_EQ(even_shares(layer)[11], 0.25);
  const State state = make_state(layer, 1);
  for (std::size_t k = 0; k < 12; ++k) EXPECT_EQ(state.bits().get(0, k), k == 2 || k == 5 || k == 8) << k;
}

TEST(JoinedLayers, DifferInSites) {
  const Layer layer = joined({Bernoulli{70}, Potts{6, 3}});
  const State x = make_state(layer, 2);
  State y = x;
  y.bits().set(0, 69, true);
  y.bits().set(1, 3, true);
  y.bits().set(1, 70, false);
  y.bits().set(1, 72, true);
  EXPECT_EQ(differing_sites(layer, x, y), 3u);
}

/// A layer of many units is drawn by the tables, few chains in another way, and on the way from a simpler machine by
/// tempered fields; all give the draws of the definition.
TEST(JoinedLayers, AreDrawnAsTheirFieldsSay) {
  const std::vector<Layer> layers{joined({Bernoulli{150}, Potts{10, 10}}), joined({Potts{9, 3}, Bernoulli{61}}),
                                  joined({Potts{8, 4}, Bernoulli{20}, Potts{6, 3}}),
                                  joined({Potts{8, 4}, Potts{6, 3}})};
  for (const Layer& layer : layers) {
    for (const Layer& other : {Layer(Bernoulli{90}), Layer(Spin{33}), Layer(Gaussian{5}), Layer(Potts{12, 4})}) {
      const Rbm rbm = test::random_machine(layer, other, 0.3, 7);
      for (const double beta : {1.0, 0.4}) {
        for (const std::size_t chains : {3u, 100u}) {
          SCOPED_TRACE(name_of(layer) + " " + name_of(other));
          const State given = independent_start(rbm, chains, Key{1}, {}).layers[Rbm::kHidden];
          Affine map = rbm.map_to(Rbm::kVisible);
          map.beta = beta;
          const std::vector<float> base(units_of(layer), 0.2f);
          if (beta < 1.0) map.base = base;
          const Draw numbers = Key{2}.at(Purpose::kTest);
          State found = make_state(layer, chains), defined = found;
          draw_given(layer, {}, given, map, numbers, 5, found, {});
          Matrix<double> fields(chains, units_of(layer));
          product(given, map, fields, {});
          for (std::size_t r = 0; r < chains; ++r) {
            draw(layer, {fields.row(r)}, {numbers, static_cast<std::uint32_t>(5 + r), defined, r});
          }
          EXPECT_EQ(found, defined);
        }
      }
    }
  }
}

TEST(JoinedLayers, DrawTwoValuedUnitsAsALayerOfThemWould) {
  const Layer layer = joined({Potts{3, 3}, Bernoulli{20}, Potts{4, 4}, Bernoulli{6}}), plain = Bernoulli{33};
  std::vector<double> fields(33);
  for (std::size_t k = 0; k < fields.size(); ++k) fields[k] = 0.1 * static_cast<double>(k) - 1.5;
  State found = make_state(layer, 50), expected = make_state(plain, 50);
  const Draw numbers = Key{4}.at(Purpose::kTest);
  for (std::uint32_t r = 0; r < 50; ++r) {
    draw(layer, {fields}, {numbers, r, found, r});
    draw(plain, {fields}, {numbers, r, expected, r});
    for (const Site& site : sites(layer)) {
      if (site.size > 1) continue;
      ASSERT_EQ(found.bits().get(r, site.first), expected.bits().get(r, site.first));
    }
  }
}

/// Some rows of visible values.
State some_rows(const Rbm& rbm, std::size_t count) {
  Chains chains = independent_start(rbm, count, Key{8}, {});
  return chains.layers[Rbm::kVisible];
}

TEST(MachineLaws, TheFreeEnergySumsToZ) {
  // Over all values of one visible site, or of a few: sums, or Simpson's rule on a real axis.
  for_each_pairing(small_layers(), all_layers(3), [](Rbm& rbm) {
    std::vector<Value> values;
    if (real_valued(rbm.visible())) values = values_of_site(rbm.visible(), {});
    State rows = real_valued(rbm.visible()) ? rbm.make_state(Rbm::kVisible, values.size()) : all_states(rbm.visible());
    for (std::size_t r = 0; r < values.size(); ++r) rows.reals()(r, 0) = static_cast<float>(values[r].units[0]);
    const std::vector<double> free_energies = rbm.free_energy(rows, {});
    double z = 0.0;
    for (std::size_t r = 0; r < rows.chains(); ++r) {
      z += (rows.real() ? values[r].weight : 1.0) * std::exp(-free_energies[r]);
    }
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
    const std::vector<double> energies = rbm.energy(std::vector<State>{rows, hidden}, {});
    const std::vector<double> free_energies = rbm.free_energy(rows, {});
    const Levels levels = levels_of(rbm.hidden());
    for (std::size_t r = 0; r < 5; ++r) {
      double log_p = 0.0;  // of all low, or all first letters
      for (const Site& site : sites(rbm.hidden())) {
        const double mean = means(r, site.first);
        log_p += std::log(site.size > 1 ? mean : (levels.high - mean) / levels.gap());
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
    Matrix<std::uint32_t> chosen(3, 3);
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::uint32_t s = 0; s < 3; ++s) chosen(r, s) = s;
    }
    const Matrix<double> found = rbm.site_log_probabilities(rows, chosen, {});
    for (std::size_t r = 0; r < 3; ++r) {
      double sum = 0.0;
      for (std::size_t s = 0; s < 3; ++s) {
        const Site site = sites(rbm.visible())[s];
        double all = 0.0, present = 0.0;
        for (std::size_t a = 0; a < site.values(); ++a) {
          State changed = rows;
          if (site.size == 1) changed.bits().set(r, site.first, a == 1);
          for (std::size_t b = 0; site.size > 1 && b < site.size; ++b) changed.bits().set(r, site.first + b, a == b);
          const double weight = std::exp(-rbm.free_energy(changed, {})[r]);
          all += weight;
          if (changed == rows) present = weight;
        }
        EXPECT_NEAR(found(r, s), std::log(present / all), 1e-9);
        sum += std::log(present / all);
      }
      EXPECT_NEAR(pseudo_log_likelihood(rbm, rows, Key{3}, 0, {})[r], sum, 1e-9);  // all of few sites
    }
  });
}

/// The exact distribution of a discrete layer in its machine.
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
  std::vector<double> out = turned.free_energy(all_states(rbm.layer(block)), {});
  double total = 0.0;
  for (double& p : out) total += p = std::exp(-p);
  for (double& p : out) p /= total;
  return out;
}

TEST(MachineLaws, GibbsReachesTheDistributionOfEachDiscreteLayer) {
  // Chains are independent, so counts of the states of a layer follow the multinomial.
  constexpr std::size_t kChains = 20000;
  std::vector<Layer> layers = all_layers(2);
  layers.push_back(joined_layers(3).back());
  for_each_pairing(layers, all_layers(2), [](Rbm& rbm) {
    Chains chains = independent_start(rbm, kChains, Key{5}, {});
    for (int s = 0; s < 30; ++s) step(Gibbs{}, rbm, chains, Key{6}, {});
    for (const std::size_t block : {Rbm::kVisible, Rbm::kHidden}) {
      if (real_valued(rbm.layer(block))) continue;
      const std::vector<double> truth = marginal_of(rbm, block);
      std::vector<std::size_t> counts(truth.size());
      for (std::size_t c = 0; c < kChains; ++c) {
        ++counts[test::index_of(chains.layers[block], c, rbm.layer(block))];
      }
      const test::ChiSquare found = test::chi_square(counts, truth);
      EXPECT_LT(found.value, found.critical()) << "layer " << block;
    }
  });
}

/// A copy of a row of visible values for each value that one site can have.
State with_each_value(const Rbm& rbm, const State& row, const Site& site, const std::vector<Value>& values) {
  State out = rbm.make_state(Rbm::kVisible, values.size());
  for (std::size_t r = 0; r < values.size(); ++r) {
    for (std::size_t k = 0; k < out.units(); ++k) {
      const bool changes = k >= site.first && k < site.first + site.size;
      const double value = changes ? values[r].units[k - site.first] : row.value(0, k);
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
    const std::vector<Site> both = sites(rbm.visible());
    Bits fixed(kChains, row.units());
    for (std::size_t c = 0; c < kChains; ++c) {
      const auto [first, size] = both[c % 2 == 0 ? 1 : 0];
      for (std::size_t k = 0; k < size; ++k) fixed.set(c, first + k, true);
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
      const Site site = both[free], other = both[1 - free];
      const std::vector<Value> values = values_of_site(rbm.visible(), site);
      const std::vector<double> free_energies = rbm.free_energy(with_each_value(rbm, row, site, values), {});
      for (std::size_t c = free; c < kChains; c += 2) {
        for (std::size_t k = other.first; k < other.first + other.size; ++k) {
          ASSERT_EQ(chains.layers[0].value(c, k), row.value(0, k));
        }
      }
      for (std::size_t k = 0; k < site.size; ++k) {
        double z = 0.0, mean = 0.0, square = 0.0, found = 0.0;
        for (std::size_t r = 0; r < values.size(); ++r) {
          const double weight = values[r].weight * std::exp(-free_energies[r]), value = values[r].units[k];
          z += weight;
          mean += weight * value;
          square += weight * value * value;
        }
        mean /= z;
        for (std::size_t c = free; c < kChains; c += 2) {
          found += chains.layers[0].value(c, site.first + k) / (0.5 * kChains);
        }
        // About a hundred comparisons: four standard errors.
        EXPECT_NEAR(found, mean, 4.0 * std::sqrt((square / z - mean * mean) / (0.5 * kChains))) << free << " " << k;
      }
    }
  });
}

TEST(MachineLaws, AMaskHasARowForAllChainsOrForEachAndWholeSites) {
  for_each_pairing(2, 2, [](Rbm& rbm) {
    Chains chains = independent_start(rbm, 3, Key{5}, {});
    const std::size_t units = units_of(rbm.visible());
    const auto draw_given = [&](const Bits& fixed) {
      rbm.resample_given(fixed, Rbm::kVisible, chains.layers, Key{1}.at(Purpose::kGibbs), 0, {});
    };
    EXPECT_NO_THROW(draw_given(Bits(1, units)));
    EXPECT_NO_THROW(draw_given(Bits(3, units)));
    for (const Bits& fixed : {Bits(2, units), Bits(3, units + 1), Bits(0, units)}) {
      EXPECT_THROW(draw_given(fixed), UsageError);
    }
    for (const Site& site : sites(rbm.visible())) {
      Bits part(3, units);
      part.set(2, site.first + site.size - 1, true);
      if (site.size > 1) {
        EXPECT_THROW(draw_given(part), UsageError);
      } else {
        EXPECT_NO_THROW(draw_given(part));
      }
    }
  });
}

}  // namespace
}  // namespace ergodic
