#include "ergodic/model/graph_sweep.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <vector>

#include "ergodic/core/elementary.hpp"
#include "ergodic/kernels/certified.hpp"
#include "ergodic/kernels/coin.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kTileChains = 32;                   // a bit each
constexpr std::size_t kSlabDraws = std::size_t{1} << 18;  // that are unpacked at once, or one tile if that has more
constexpr std::size_t kTaskUnits = 256;                   // units of a tile that one thread takes at a time
// By how much 16 random bits must clear a probability in float: its own error, and that of a field rounded to float,
// which moves no sigmoid by more than 2^-24; twice that for what these operations round.
constexpr float kSlack = 65536.0f * 2.0f * (kSigmoidError + 0x1p-24f);

/// A few chains with all their units unpacked, so that threads may draw different units at the same time, and fields of
/// all the chains are summed side by side.
class Tile {
 public:
  Tile(const State& x, std::size_t first_row, const Draw& draw, std::uint64_t first_chain)
      : first_row_(first_row),
        chains_(std::min(kTileChains, x.chains() - first_row)),
        first_chain_(static_cast<std::uint32_t>(first_chain + first_row)),
        levels_(x.levels()),
        values_(x.units() * kTileChains),
        coarse_per_chain_((x.units() + kCoarseUnits - 1) / kCoarseUnits),
        coarse_(coarse_per_chain_ * chains_) {
    for (std::size_t c = 0; c < chains_; ++c) {
      for (std::size_t i = 0; i < x.units(); ++i) values_[i * kTileChains + c] = x.value(first_row + c, i);
      draw.words(first_chain_ + static_cast<std::uint32_t>(c), 0,
                 std::span(coarse_).subspan(c * coarse_per_chain_, coarse_per_chain_));
    }
  }

  void draw_unit(const GraphFields& fields, std::uint32_t unit, FixedUnits fixed, const Draw& draw) {
    std::uint32_t free = 0;  // which chains draw it
    for (std::size_t c = 0; c < chains_; ++c) free |= std::uint32_t{!fixed.at(first_row_ + c, unit)} << c;
    if (free == 0) return;
    std::array<double, kTileChains> sums;
    sums.fill(fields.bias[unit]);
    fields.graph.for_neighbours(unit, [&](std::size_t j, std::size_t e) {
      const double coupling = fields.couplings[e];
      const float* values = values_.data() + j * kTileChains;
      for (std::size_t c = 0; c < kTileChains; ++c) sums[c] += coupling * values[c];
    });
    std::array<float, kTileChains> thresholds;
    for (std::size_t c = 0; c < kTileChains; ++c) {
      thresholds[c] = 65536.0f * approximate_sigmoid(static_cast<float>(levels_.gap() * sums[c]));
    }
    float* own = values_.data() + std::size_t{unit} * kTileChains;
    for (; free != 0; free &= free - 1) {
      const auto c = static_cast<std::size_t>(std::countr_zero(free));
      const std::uint32_t coarse = coarse_bits(coarse_[c * coarse_per_chain_ + unit / kCoarseUnits], unit);
      const auto upper = static_cast<float>(coarse);
      bool high = upper + 1.0f + kSlack <= thresholds[c];
      if (!high && upper < thresholds[c] + kSlack) {  // too close
        const double p = sigmoid(levels_.gap() * sums[c]);
        high = falls_below(p, coarse, draw, first_chain_ + static_cast<std::uint32_t>(c), unit);
      }
      own[c] = high ? levels_.high : levels_.low;
    }
  }

  void store(State& x) const {
    for (std::size_t c = 0; c < chains_; ++c) {
      for (std::size_t i = 0; i < x.units(); ++i) {
        x.bits().set(first_row_ + c, i, values_[i * kTileChains + c] == levels_.high);
      }
    }
  }

 private:
  std::size_t first_row_, chains_;
  std::uint32_t first_chain_;
  Levels levels_;
  std::vector<float> values_;  // [units][kTileChains]
  std::size_t coarse_per_chain_;
  std::vector<Words> coarse_;  // [chains][units / 8]
};

}  // namespace

void sweep_colours(State& x, const GraphFields& fields, const ColourOrder& order, const Draw& draw,
                   std::uint64_t first_chain, const Context& context) {
  const std::size_t slab = std::max<std::size_t>(1, kSlabDraws / (x.units() * kTileChains)) * kTileChains;
  for (std::size_t first = 0; first < x.chains(); first += slab) {
    const std::size_t chains = std::min(slab, x.chains() - first);
    std::vector<std::optional<Tile>> tiles((chains + kTileChains - 1) / kTileChains);
    const auto for_tiles = [&](const auto& f) {
      context.for_blocks(tiles.size(), 1, [&](std::size_t t, std::size_t) { f(t); });
    };
    for_tiles([&](std::size_t t) { tiles[t].emplace(x, first + t * kTileChains, draw, first_chain); });
    for (const std::vector<std::uint32_t>& colour : order.colours) {
      context.for_blocks(tiles.size() * colour.size(), kTaskUnits, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) {
          tiles[k / colour.size()]->draw_unit(fields, colour[k % colour.size()], order.fixed, draw);
        }
      });
    }
    for_tiles([&](std::size_t t) { tiles[t]->store(x); });
  }
}

}  // namespace ergodic
