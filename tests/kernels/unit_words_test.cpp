#include "ergodic/kernels/unit_words.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

using test::kBinary, test::kSpins, test::random_bits, test::random_state;

TEST(UnitWords, BitsAreHeldByUnitAndComeBack) {
  for (const std::size_t units : {1u, 31u, 32u, 33u, 64u, 100u, 130u}) {
    for (const std::size_t rows : {1u, 7u, 16u, 31u, 32u, 33u, 70u}) {
      const Bits from = random_bits(rows, units, 0.4, units + rows);
      test::for_each_target([&] {
        Bits back(rows, units);
        for (std::size_t first = 0; first < rows; first += kTileChains) {
          UnitWords words(tile_units(units));
          load_bits(from, first, 0, units, words);
          for (std::size_t i = 0; i < units; ++i) {
            for (std::size_t c = 0; c < kTileChains; ++c) {
              ASSERT_EQ((words[i] >> c) & 1u, first + c < rows && from.get(first + c, i)) << "unit " << i;
            }
          }
          store_bits(words, first, 0, units, back);
        }
        ASSERT_TRUE(back == from) << rows << " rows of " << units;
      });
    }
  }
}

TEST(UnitWords, ProductsAreAddedTermByTermOnEveryTarget) {
  constexpr std::size_t kUnits = 50;
  for (const Levels levels : {kBinary, kSpins}) {
    const State x = random_state(kTileChains, kUnits, levels, 0.5, 3);
    UnitWords words(tile_units(kUnits));
    load_bits(x.bits(), 0, 0, kUnits, words);
    std::vector<ProductTerm> terms;
    const Draw draw = Key{4}.at(Purpose::kTest);
    for (std::uint32_t k = 0; k < 300; ++k) {
      terms.push_back({static_cast<std::uint32_t>(draw.below(kUnits, 0, k)),
                       static_cast<std::uint32_t>(draw.below(kUnits, 1, k)), draw.normal(2, k)});
    }
    std::array<double, kTileChains> truth{};
    for (std::size_t c = 0; c < kTileChains; ++c) {
      truth[c] = 0.1 * static_cast<double>(c);
      for (const auto& [a, b, factor] : terms) truth[c] += factor * double{x.value(c, a)} * double{x.value(c, b)};
    }
    test::for_each_target([&] {
      std::array<double, kTileChains> sums;
      for (std::size_t c = 0; c < kTileChains; ++c) sums[c] = 0.1 * static_cast<double>(c);
      add_products(terms, words, levels, sums);
      EXPECT_EQ(sums, truth);
    });
  }
}

}  // namespace
}  // namespace ergodic
