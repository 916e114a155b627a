#include "ergodic/kernels/chain_tile.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

using test::kBinary, test::kSpins, test::random_bits, test::random_state;

TEST(ChainTile, BitsAreHeldByUnitAndComeBack) {
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

/// Units on a ring, each with as many neighbours on both sides.
struct Ring {
  static constexpr std::size_t kUnits = 96;
  std::vector<std::size_t> begin{0};
  std::vector<Neighbour> neighbours;
  std::vector<float> couplings = std::vector<float>(kUnits, 0.2f), bias = std::vector<float>(kUnits, 0.1f);

  explicit Ring(std::size_t reach) {
    for (std::uint32_t i = 0; i < kUnits; ++i) {
      for (std::uint32_t k = 1; k <= reach; ++k) {
        for (const std::size_t j : {(i + k) % kUnits, (i + kUnits - k) % kUnits}) {
          neighbours.push_back({static_cast<std::uint32_t>(j), i});
        }
      }
      begin.push_back(neighbours.size());
    }
  }
  SparseFields fields(Levels levels) const { return {{begin, neighbours}, couplings, bias, levels}; }
};

TEST(ChainTile, HardlyAnyDrawIsUnsure) {
  // Of 65,536 random numbers two are. In 32 * 96 * 200 draws that is 19 on average, with a deviation of 4.3.
  for (const std::size_t reach : {1u, 2u, 3u}) {  // tables, and fields of six neighbours
    for (const Levels levels : {kBinary, kSpins}) {
      const Ring ring(reach);
      const SparseFields fields = ring.fields(levels);
      AlignedVector<ThresholdTable> thresholds;
      make_thresholds(fields, thresholds, {});
      const State x = random_state(kTileChains, Ring::kUnits, levels, 0.5, 1);
      std::vector<std::uint32_t> units(Ring::kUnits);
      std::iota(units.begin(), units.end(), 0u);
      std::size_t unsure = 0;
      for (std::size_t step = 0; step < 200; ++step) {
        ChainTile tile;
        tile.place(x, 0, 0);
        load(x, {}, Key{2}.at(Purpose::kGibbs, step), 0, Ring::kUnits, tile);
        std::vector<UnsureDraws> found(units.size());
        found.resize(draw_units(units, fields, thresholds, tile, found));
        for (const UnsureDraws& draws : found) unsure += static_cast<std::size_t>(std::popcount(draws.chains));
      }
      EXPECT_LE(unsure, 19u + 4u * 5u) << reach;
    }
  }
}

TEST(ChainTile, ProductsAreAddedTermByTermOnEveryTarget) {
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
      alignas(kCacheLine) std::array<double, kTileChains> sums;
      for (std::size_t c = 0; c < kTileChains; ++c) sums[c] = 0.1 * static_cast<double>(c);
      add_products(terms, words, levels, sums);
      EXPECT_EQ(sums, truth);
    });
  }
}

}  // namespace
}  // namespace ergodic
