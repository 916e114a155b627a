#include "ergodic/model/graph_sweep.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "ergodic/core/elementary.hpp"
#include "ergodic/kernels/coin.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kTaskUnits = 256;                    // of a tile that one thread draws at a time
constexpr std::size_t kLoadedUnits = 2048;                 // the same for loading and storing
constexpr std::size_t kWholeUnits = std::size_t{1} << 16;  // of larger tiles there is only one in memory

/// A sweep of some of the chains.
class TileSweep {
 public:
  TileSweep(State& x, const GraphFields& fields, const ColourOrder& order, const Draw& draw, ChainTile& tile)
      : x_(x),
        fields_(fields),
        sparse_{fields.graph.neighbour_lists(), fields.couplings, fields.bias, x.levels()},
        order_(order),
        draw_(draw),
        tile_(tile) {}

  /// Threads may load, draw or store different units at the same time; all units are loaded first.
  void run(const Context& context) {
    context.for_blocks(x_.units(), kLoadedUnits,
                       [&](std::size_t begin, std::size_t end) { load(x_, order_.fixed, draw_, begin, end, tile_); });
    for (const std::vector<std::uint32_t>& colour : order_.colours) {
      context.for_blocks(colour.size(), kTaskUnits, [&](std::size_t begin, std::size_t end) {
        draw_some(std::span(colour).subspan(begin, end - begin));
      });
    }
    context.for_blocks(x_.units(), kLoadedUnits, [&](std::size_t begin, std::size_t end) {
      store_bits(tile_.bits, tile_.first_row, begin, end, x_.bits());
    });
  }

 private:
  void draw_some(std::span<const std::uint32_t> units) {
    std::array<UnsureDraws, kTaskUnits> unsure;
    const std::size_t count = draw_units(units, sparse_, order_.thresholds, tile_, unsure);
    for (const auto& [unit, chains] : std::span(unsure).first(count)) {
      for (std::uint32_t left = chains; left != 0; left &= left - 1) {
        const auto c = static_cast<std::uint32_t>(std::countr_zero(left));
        tile_.bits[unit] |= std::uint32_t{defined_bit(unit, c)} << c;
      }
    }
  }

  /// By the definition.
  bool defined_bit(std::uint32_t unit, std::uint32_t c) const {
    const Levels levels = sparse_.levels;
    const auto value = [&](std::size_t j) { return (tile_.bits[j] >> c) & 1u ? levels.high : levels.low; };
    return coin(draw_, tile_.first_chain + c, unit, sigmoid(levels.gap() * fields_.of(unit, value)));
  }

  State& x_;
  const GraphFields& fields_;
  SparseFields sparse_;
  const ColourOrder& order_;
  const Draw& draw_;
  ChainTile& tile_;
};

}  // namespace

void sweep_colours(State& x, const GraphFields& fields, const ColourOrder& order, const Draw& draw,
                   std::uint64_t first_chain, const Context& context) {
  const std::size_t tiles = (x.chains() + kTileChains - 1) / kTileChains;
  const auto sweep = [&](std::size_t t, const Context& inner) {
    thread_local ChainTile tile;  // kept, so that sweeps allocate nothing
    tile.place(x, t * kTileChains, first_chain + t * kTileChains);
    TileSweep(x, fields, order, draw, tile).run(inner);
  };
  // Threads share a tile if there are too few tiles for them, or if more would take too much memory.
  if (tiles >= context.thread_count() && x.units() <= kWholeUnits) {
    context.for_blocks(tiles, 1, [&](std::size_t t, std::size_t) { sweep(t, Context{}); });
  } else {
    for (std::size_t t = 0; t < tiles; ++t) sweep(t, context);
  }
}

}  // namespace ergodic
