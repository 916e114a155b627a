#include "ergodic/kernels/chain_tile.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <numeric>
#include <vector>

#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

using test::kBinary, test::kSpins, test::random_state;

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

}  // namespace
}  // namespace ergodic
