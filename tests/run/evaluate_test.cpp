#include "ergodic/run/evaluate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "boltzmann_machines.hpp"
#include "brute_force.hpp"
#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/machine/boltzmann.hpp"
#include "ergodic/machine/rbm.hpp"
#include "ergodic/model/exact_rbm.hpp"
#include "run/listener.hpp"

namespace ergodic {
namespace {

constexpr Key kKey{2};

Dataset rows_of_states(const std::vector<std::size_t>& states, std::size_t units) {
  return {"rows", test::states_of(states, units, Bernoulli::kLevels).bits()};
}

TEST(Evaluate, AgreesWithBruteForceForEveryPairing) {
  test::for_each_pairing([](std::string_view visible, std::string_view hidden) {
    const Rbm rbm = test::random_machine(make_layer(visible, 6), make_layer(hidden, 5), 0.8, 1);
    const test::BruteForce truth(rbm);
    double exact = 0.0;
    for (const std::size_t x : {3u, 9u, 60u, 9u}) exact += std::log(truth.probability(x)) / 4;
    const EvaluateResult result = evaluate(RbmMachine(rbm), rows_of_states({3, 9, 60, 9}, 6), {}, kKey, {});
    const Evaluation& found = result.evaluation;
    EXPECT_EQ(result.rows, 4u);
    EXPECT_EQ(result.why_no_log_z, "");
    EXPECT_FALSE(result.stopped || result.partial);
    ASSERT_TRUE(found.log_likelihood && found.log_z);
    EXPECT_NEAR(found.log_likelihood->value, exact, 1e-9);
    EXPECT_EQ(found.log_likelihood->lower, found.log_likelihood->value);
    EXPECT_EQ(found.log_likelihood->upper, found.log_likelihood->value);
    EXPECT_EQ(found.log_likelihood->standard_error, 0.0);
    EXPECT_EQ(found.log_z->method, "exact");
    EXPECT_NEAR(found.log_z->value, truth.log_z(), 1e-9);
    EXPECT_FALSE(found.annealed.has_value());
  });
}

TEST(Evaluate, AnnealsWhereItCannotEnumerate) {
  // Without parameters all is known: log Z = 71 log 2.
  const RbmMachine machine(Rbm(Bernoulli{40}, Bernoulli{31}));
  EXPECT_FALSE(machine.exact_log_z({}).has_value());
  const EvaluateResult result = evaluate(machine, rows_of_states({0, 1, 2}, 40), {{100, 0.0}, {}}, kKey, {});
  const Evaluation& found = result.evaluation;
  EXPECT_NEAR(found.free_energy->mean.value, -31 * std::log(2.0), 1e-9);
  EXPECT_NEAR(*found.pseudo_log_likelihood, -40 * std::log(2.0), 1e-9);
  ASSERT_TRUE(found.annealed && found.log_z && found.log_likelihood);
  EXPECT_EQ(found.annealed->temperatures, 100u);
  EXPECT_NE(found.log_z->method, "exact");
  EXPECT_LE(found.log_z->lower, 71 * std::log(2.0));
  EXPECT_GE(found.log_z->upper, 71 * std::log(2.0));
  EXPECT_NEAR(found.log_likelihood->value, 31 * std::log(2.0) - found.log_z->value, 1e-9);
}

TEST(Evaluate, NamesItsStagesAndNeverGoesBack) {
  struct : test::Listener {
    std::vector<double> shares;
    void progress(const Progress& p) override {
      shares.push_back(static_cast<double>(p.done) / static_cast<double>(p.total));
    }
  } listener;
  const RbmMachine machine(test::random_machine(Bernoulli{6}, Bernoulli{5}, 0.8, 1));
  evaluate(machine, rows_of_states({3, 9}, 6), {}, kKey, Context{nullptr, &listener});
  EXPECT_EQ(listener.stage_names(), (std::vector<std::string>{"free energies", "log Z"}));
  EXPECT_TRUE(std::ranges::is_sorted(listener.shares));
  EXPECT_EQ(listener.shares.back(), 1.0);
  // Annealing in rounds, of a machine that is too large to be summed over.
  listener.shares.clear();
  const RbmMachine large(Rbm(Bernoulli{40}, Bernoulli{31}));
  evaluate(large, rows_of_states({0, 1, 2}, 40), {{600, 0.0}, {}}, kKey, Context{nullptr, &listener});
  EXPECT_TRUE(std::ranges::is_sorted(listener.shares));
  EXPECT_EQ(listener.shares.back(), 1.0);
  EXPECT_GT(listener.shares.size(), 600u);
}

TEST(Evaluate, AStopInTheMiddleOfAnnealingGivesThePartialAnswer) {
  const RbmMachine machine(Rbm(Bernoulli{40}, Bernoulli{31}));
  const Dataset data = rows_of_states({0, 1, 2}, 40);
  test::Listener listener;
  listener.stop_after = 1000;
  const EvaluateResult partial = evaluate(machine, data, {{1600, 0.0}, {}}, kKey, Context{nullptr, &listener});
  EXPECT_TRUE(partial.stopped);
  EXPECT_TRUE(partial.partial);
  EXPECT_TRUE(partial.evaluation.log_likelihood.has_value());
  test::Listener impatient;
  impatient.stop_after = 0;
  const EvaluateResult none = evaluate(machine, data, {{1600, 0.0}, {}}, kKey, Context{nullptr, &impatient});
  EXPECT_TRUE(none.stopped);
  EXPECT_FALSE(none.evaluation.log_likelihood.has_value());
  EXPECT_EQ(none.why_no_log_z, "stopped before the end");
}

TEST(Evaluate, SumsOverHiddenUnitsOfAGraph) {
  Boltzmann model = test::random_boltzmann(Spin{7}, dense_graph(7), 0.5, 3);
  const test::BoltzmannTruth truth(model);
  Boltzmann hidden(Spin{7}, dense_graph(7), 4);
  hidden.update([&](Parameters& p) { p = model.parameters(); }, {});
  double p = 0.0;  // of the visible state 5: the visible units are the lowest bits
  for (std::size_t s = 5; s < 128; s += 16) p += truth.p()[s];
  const EvaluateResult found = evaluate(BoltzmannMachine(hidden), rows_of_states({5}, 4), {}, kKey, {});
  EXPECT_NEAR(found.evaluation.log_likelihood->value, std::log(p), 1e-6);
  EXPECT_FALSE(found.evaluation.pseudo_log_likelihood.has_value());
}

TEST(Evaluate, DataThatDoesNotFitIsRefused) {
  const RbmMachine machine(test::random_machine(Bernoulli{6}, Bernoulli{5}, 0.8, 1));
  const auto refused = [&](const Dataset& data) {
    return message_of<DataError>([&] { evaluate(machine, data, {}, kKey, {}); });
  };
  expect_parts(refused(rows_of_states({1}, 5)), {"rows", "6 values", "found 5"});
  expect_parts(refused({"reals", Matrix<float>(2, 6)}), {"reals", "bernoulli"});
}

}  // namespace
}  // namespace ergodic
