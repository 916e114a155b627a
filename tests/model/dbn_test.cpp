#include "ergodic/model/dbn.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "deep_networks.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/model/exact_rbm.hpp"

namespace ergodic {
namespace {

TEST(Dbn, ItsEnergyIsThatOfTheDefinition) {
  for (const Dbn& model : test::random_dbns()) {
    const std::vector<State> all = test::states_of_layers(model);
    std::vector<std::vector<std::size_t>> chosen;
    test::for_all_rows(all, [&](const auto& rows) { chosen.push_back(rows); });
    std::vector<State> layers;
    for (std::size_t l = 0; l < all.size(); ++l) {
      std::vector<std::size_t> rows;
      for (const auto& choice : chosen) rows.push_back(choice[l]);
      layers.push_back(test::rows_of(all[l], rows));
    }
    const std::vector<double> found = model.energy(layers, {});
    for (std::size_t r = 0; r < chosen.size(); ++r) {
      ASSERT_NEAR(found[r], -test::minus_energy(model, all, chosen[r]), 1e-9);
    }
  }
}

TEST(Dbn, ItsSumsOverHiddenStatesAreThoseOfTheJointEnergyAndItsLogZIsThatOfTheTop) {
  for (const Dbn& model : test::random_dbns()) {
    const std::vector<State> all = test::states_of_layers(model);
    std::vector<double> sums(all[0].chains());
    double z = 0.0;
    test::for_all_rows(all, [&](const auto& rows) {
      const double weight = std::exp(test::minus_energy(model, all, rows));
      sums[rows[0]] += weight;
      z += weight;
    });
    ASSERT_TRUE(model.summable());
    const std::vector<double> found = *model.log_sums(all[0], {});
    for (std::size_t r = 0; r < sums.size(); ++r) EXPECT_NEAR(found[r], std::log(sums[r]), 1e-9);
    EXPECT_NEAR(*exact_log_z(model.top(), {}), std::log(z), 1e-9);
  }
}

TEST(Dbn, DrawsDownFollowTheDefinition) {
  // Chi-square of 20000 draws of all directed layers given one state of h_{L-1}.
  const Dbn model = test::random_dbn({3, {3, 2, 3}}, 1.0, 3);
  State top = make_state(Bernoulli{2}, 20000);
  for (std::size_t r = 0; r < top.chains(); ++r) top.bits().set(r, 1, true);
  const std::vector<State> found = model.draw_down(top, {Key{5}, Purpose::kTest}, {});
  ASSERT_EQ(found.size(), 3u);
  const State x = test::all_states(Bernoulli{3}), h = test::all_states(Bernoulli{3});
  std::vector<double> p(64);
  std::vector<std::size_t> counts(64);
  for (std::size_t state = 0; state < 64; ++state) {
    const State one = test::rows_of(h, {state / 8});
    p[state] = std::exp(log_conditional(model.stage(0), Rbm::kVisible, test::rows_of(x, {state % 8}), one, {})[0] +
                        log_conditional(model.stage(1), Rbm::kVisible, one, top.rows(0, 1), {})[0]);
  }
  for (std::size_t r = 0; r < top.chains(); ++r) {
    ++counts[test::index_of(found[0], r) + 8 * test::index_of(found[1], r)];
  }
  const test::ChiSquare far = test::chi_square(counts, p);
  EXPECT_LT(far.value, far.critical());
}

TEST(Dbn, ItsParametersAreOneBufferThatGoesBackAndForth) {
  const Dbn model = test::random_dbn({3, {2, 3, 2}, 2, true}, 1.0, 4);
  std::vector<std::string> names;
  for (const Slot& slot : model.parameters().slots()) names.push_back(slot.name);
  EXPECT_EQ(names, (std::vector<std::string>{"layer1.weights", "layer1.visible_bias", "layer1.hidden_bias",
                                             "layer1.recognition_weights", "layer2.weights", "layer2.visible_bias",
                                             "layer2.hidden_bias", "layer2.recognition_weights", "layer3.weights",
                                             "layer3.visible_bias", "layer3.hidden_bias"}));
  EXPECT_EQ(model.parameters().slot("layer3.weights").shape, (std::vector<std::size_t>{5, 2}));
  Dbn copy(model.shape());
  copy.set_parameters(model.parameters());
  EXPECT_TRUE(std::ranges::equal(copy.parameters().values(), model.parameters().values()));
  EXPECT_FALSE(copy.tied(0));
}

TEST(Dbn, RecognitionFollowsTheGenerativeWeightsUntilItIsUntied) {
  Dbn model = test::random_dbn({3, {2, 2}, 0, true}, 1.0, 1);
  Parameters values = model.parameters();
  std::ranges::copy(values["layer1.weights"], values["layer1.recognition_weights"].begin());
  model.set_parameters(values);
  EXPECT_TRUE(model.tied(0));
  model.edited_stage(0).update([](Parameters& p) { p["weights"][0] = 7.0f; }, {});
  EXPECT_EQ(model.parameters()["layer1.recognition_weights"][0], 7.0f);
  model.edited_recognition(0).update([](Parameters& p) { p["weights"][0] = 8.0f; }, {});
  EXPECT_EQ(model.parameters()["layer1.weights"][0], 7.0f);
  EXPECT_EQ(model.parameters()["layer1.recognition_weights"][0], 8.0f);
}

TEST(Dbn, OneHiddenLayerIsNotDeep) {
  EXPECT_THROW(Dbn({4, {3}}), UsageError);
  EXPECT_THROW(Dbn({4, std::vector<std::size_t>(17, 2)}), UsageError);
}

TEST(Dbn, WhatIsTooLargeIsNotSummed) {
  EXPECT_TRUE(Dbn({4, {16, 100}}).summable());
  EXPECT_FALSE(Dbn({4, {17, 2}}).summable());
  EXPECT_FALSE(Dbn({4, {9, 8, 2}}).summable());
}

}  // namespace
}  // namespace ergodic
