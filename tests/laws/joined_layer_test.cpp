// Laws of layers that have several parts: what may be joined, what such a layer answers, and how it is drawn.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "brute_force.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/kernels/products.hpp"
#include "ergodic/model/layer.hpp"
#include "ergodic/sampler/chains.hpp"

namespace ergodic {
namespace {

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

}  // namespace
}  // namespace ergodic
