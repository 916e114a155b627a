// Laws of machines that couple two layers, for every pair of unit types: energies, gradients, conditionals and draws
// against sums over the values of units, or integrals.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "brute_force.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/model/exact_rbm.hpp"
#include "ergodic/model/rbm_pseudo_likelihood.hpp"
#include "ergodic/sampler/gibbs.hpp"
#include "laws/site_values.hpp"

namespace ergodic {
namespace {

using test::all_layers;
using test::all_states;
using test::joined_layers;
using test::SiteValue;
using test::small_layers;
using test::values_of_site;

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

/// Some rows of visible values.
State some_rows(const Rbm& rbm, std::size_t count) {
  Chains chains = independent_start(rbm, count, Key{8}, {});
  return chains.layers[Rbm::kVisible];
}

TEST(MachineLaws, TheFreeEnergySumsToZ) {
  // Over all values of one visible site, or of a few: sums, or Simpson's rule on a real axis.
  for_each_pairing(small_layers(), all_layers(3), [](Rbm& rbm) {
    std::vector<SiteValue> values;
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
State with_each_value(const Rbm& rbm, const State& row, const Site& site, const std::vector<SiteValue>& values) {
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
      const std::vector<SiteValue> values = values_of_site(rbm.visible(), site);
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
