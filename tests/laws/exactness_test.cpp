// Laws that hold for every pairing of unit types, against sums over all states.
#include <gtest/gtest.h>

#include "brute_force.hpp"
#include "ergodic/model/exact_rbm.hpp"
#include "ergodic/trainer/trainer.hpp"

namespace ergodic {
namespace {

using test::BruteForce;

constexpr int kMachines = 200, kOtherMachines = 5;

/// Equal to 1e-6 of their size, or of 1 if they are smaller.
#define EXPECT_CLOSE(a, b) EXPECT_NEAR(a, b, 1e-6 * std::max(1.0, std::abs(b)))

/// 200 machines of up to 6 + 6 two-valued units, of weak to strong couplings.
template <class F>
void for_each_two_valued_machine(const F& f) {
  test::for_each_pairing([&](std::string_view visible, std::string_view hidden) {
    SCOPED_TRACE(std::string(visible) + " - " + std::string(hidden));
    for (int k = 0; k < kMachines; ++k) {
      const auto seed = static_cast<std::uint64_t>(k);
      const Draw draw = Key{seed}.at(Purpose::kTest, 1);
      const std::size_t n = 1 + draw.below(6, 0, 0), m = 1 + draw.below(6, 0, 1);
      f(test::random_machine(make_layer(visible, n), make_layer(hidden, m), 0.1 + 0.01 * k, seed));
    }
  });
}

/// Those, and a few of each other pairing of layers whose states can be counted: letters, and layers of several parts.
template <class F>
void for_each_machine(const F& f) {
  for_each_two_valued_machine(f);
  for (const Layer& visible : test::discrete_layers(3)) {
    for (const Layer& hidden : test::discrete_layers(2)) {
      if (two_valued(visible) && two_valued(hidden)) continue;
      SCOPED_TRACE(name_of(visible) + " - " + name_of(hidden));
      for (int k = 0; k < kOtherMachines; ++k) {
        f(test::random_machine(visible, hidden, 0.1 + 0.4 * k, static_cast<std::uint64_t>(k)));
      }
    }
  }
}

State all_visible(const Rbm& rbm) { return test::all_states(rbm.visible()); }

TEST(Exactness, Energy) {
  for_each_machine([](const Rbm& rbm) {
    const BruteForce truth(rbm);
    for (std::size_t v = 0; v < truth.states_v(); ++v) {
      const State hidden = test::rows_of(truth.vs(), std::vector<std::size_t>(truth.states_x(), v));
      const std::vector<double> energies = rbm.energy(std::vector<State>{all_visible(rbm), hidden}, {});
      for (std::size_t x = 0; x < truth.states_x(); ++x) EXPECT_CLOSE(energies[x], truth.energy(x, v));
    }
  });
}

TEST(Exactness, FreeEnergyAndLogZ) {
  for_each_machine([](const Rbm& rbm) {
    const BruteForce truth(rbm);
    EXPECT_CLOSE(*exact_log_z(rbm, {}), truth.log_z());
    const std::vector<double> free_energies = rbm.free_energy(all_visible(rbm), {});
    for (std::size_t x = 0; x < truth.states_x(); ++x) {
      EXPECT_CLOSE(-free_energies[x] - truth.log_z(), std::log(truth.probability(x)));
    }
  });
}

TEST(Exactness, ConditionalMeansBothWays) {
  for_each_machine([](const Rbm& rbm) {
    const BruteForce truth(rbm);
    const std::size_t n = units_of(rbm.visible()), m = units_of(rbm.hidden());
    const Matrix<float> up = rbm.conditional_means(Rbm::kHidden, all_visible(rbm), {});
    for (std::size_t x = 0; x < truth.states_x(); ++x) {
      const double p = truth.probability(x);
      const auto means =
          truth.statistics([&](std::size_t a, std::size_t v) { return a == x ? truth.joint(x, v) / p : 0.0; });
      for (std::size_t j = 0; j < m; ++j) EXPECT_CLOSE(up(x, j), means[n * m + n + j]);
    }
    const Matrix<float> down = rbm.conditional_means(Rbm::kVisible, truth.vs(), {});
    for (std::size_t v = 0; v < truth.states_v(); ++v) {
      double p = 0.0;
      for (std::size_t x = 0; x < truth.states_x(); ++x) p += truth.joint(x, v);
      const auto means =
          truth.statistics([&](std::size_t x, std::size_t b) { return b == v ? truth.joint(x, v) / p : 0.0; });
      for (std::size_t i = 0; i < n; ++i) EXPECT_CLOSE(down(v, i), means[n * m + i]);
    }
  });
}

/// The gradient of the mean log-likelihood of these rows.
Statistics likelihood_gradient(const Rbm& rbm, const State& rows) {
  Statistics gradient(rbm.parameters().values().size());
  const double weight = 1.0 / static_cast<double>(rows.chains());
  rbm.add_statistics(Rbm::kVisible, rows, rbm.conditional_moments(Rbm::kHidden, rows, {}), {&weight, 1}, gradient, {});
  const Statistics model = exact_statistics(rbm, {});
  for (std::size_t k = 0; k < gradient.size(); ++k) gradient[k] -= model[k];
  return gradient;
}

TEST(Exactness, LikelihoodGradientAgreesWithBruteForce) {
  for_each_machine([](const Rbm& rbm) {
    const BruteForce truth(rbm);
    const std::size_t datum = truth.states_x() / 3;
    const double p = truth.probability(datum);
    const auto data =
        truth.statistics([&](std::size_t x, std::size_t v) { return x == datum ? truth.joint(x, v) / p : 0.0; });
    const auto model = truth.statistics([&](std::size_t x, std::size_t v) { return truth.joint(x, v); });
    const Statistics found = likelihood_gradient(rbm, test::rows_of(truth.xs(), {datum}));
    for (std::size_t k = 0; k < found.size(); ++k) EXPECT_CLOSE(found[k], data[k] - model[k]);
  });
}

TEST(Exactness, LikelihoodGradientAgreesWithFiniteDifferences) {
  const auto check = [](const Layer& visible, const Layer& hidden) {
    SCOPED_TRACE(name_of(visible) + " - " + name_of(hidden));
    Rbm rbm = test::random_machine(visible, hidden, 0.5, 11);
    const State rows = test::rows_of(test::all_states(visible), {1, 6, 6, 13});
    const Statistics gradient = likelihood_gradient(rbm, rows);
    const auto likelihood_at = [&](std::size_t k, float value) {
      rbm.update([&](Parameters& p) { p.values()[k] = value; }, {});
      double sum = 0.0;
      for (const double f : rbm.free_energy(rows, {})) sum -= f;
      return sum / static_cast<double>(rows.chains()) - *exact_log_z(rbm, {});
    };
    for (std::size_t k = 0; k < gradient.size(); ++k) {
      const float here = rbm.parameters().values()[k];
      const float up = here + 1e-3f, down = here - 1e-3f;
      const double slope = (likelihood_at(k, up) - likelihood_at(k, down)) / (double{up} - down);
      likelihood_at(k, here);
      // Central differences err by h^2/6 times the third derivative, here a third cumulant of order one to eight.
      EXPECT_NEAR(gradient[k], slope, 3e-6) << k;
    }
  };
  for (const Layer& visible : test::discrete_layers(4)) {
    for (const Layer& hidden : test::discrete_layers(3)) check(visible, hidden);
  }
}

TEST(Exactness, TheSameMachineInOtherUnitsHasTheSameLikelihood) {
  for_each_two_valued_machine([](const Rbm& rbm) {
    const std::vector<double> here = rbm.free_energy(all_visible(rbm), {});
    const double log_z = *exact_log_z(rbm, {});
    test::for_each_pairing([&](std::string_view visible, std::string_view hidden) {
      const Rbm other =
          with_units(rbm, make_layer(visible, units_of(rbm.visible())), make_layer(hidden, units_of(rbm.hidden())));
      const std::vector<double> there = other.free_energy(all_visible(other), {});
      const double other_log_z = *exact_log_z(other, {});
      for (std::size_t x = 0; x < here.size(); ++x) EXPECT_CLOSE(-there[x] - other_log_z, -here[x] - log_z);
    });
  });
}

}  // namespace
}  // namespace ergodic
