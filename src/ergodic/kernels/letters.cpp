#include "ergodic/kernels/letters.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/letters.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <numeric>
#include <optional>

#include "ergodic/core/aligned.hpp"
#include "ergodic/core/elementary.hpp"
#include "ergodic/kernels/fields.hpp"
#include "ergodic/kernels/float_sampling.hpp"
#include "ergodic/kernels/lane_bits-inl.hpp"
#include "ergodic/kernels/sparse_sums.hpp"
#include "ergodic/kernels/table_sampling-inl.hpp"
#include "ergodic/kernels/target.hpp"
#include "ergodic/kernels/transpose-inl.hpp"

// What all targets share.
#ifndef ERGODIC_LETTERS_SHARED
#define ERGODIC_LETTERS_SHARED
namespace ergodic {

namespace {
constexpr std::size_t kMostLanes = 16;  // of a vector of floats
constexpr float kLog2e = 1.44269504f;
constexpr float kFloatError = 3e-5f;  // of a field and its exponential in float, beside that of the rounded weights
constexpr float kLargeError = 0.05f;  // from there on letters are drawn by the definition
// Weights that may have been cut off, or of which too little is left.
constexpr float kLeastTotal = 1e-25f, kMostTotal = 1e34f;
}  // namespace

/// From sums of rounded weights to fields times log2 e, for each unit.
struct LetterRules {
  LetterRules() = default;
  explicit LetterRules(std::size_t units) : scale(units), offset(units), error(units) {}

  AlignedVector<float> scale, offset;
  AlignedVector<float> error;                                            // of a field of the row with the most terms
  alignas(kCacheLine) std::array<float, LookupPlan::kMaxRows> shares{};  // of it in each row
};

/// The rows of x that a plan is for.
struct LetterCall {
  const State& x;
  const Affine& map;
  std::size_t letters;
  bool few;                    // whether few inputs are on
  const LookupPlan& plan;      // of the rows, unless few are
  const std::int32_t* summed;  // their sums, if few are: see InputSums
  const LetterRules& rules;
  std::size_t first_row, rows;
  const Draw& draw;
  std::uint32_t first_chain;  // whose random numbers the first row draws
  std::uint32_t* drawn;       // [site][place]: the letters
  Profile* profile;

  std::size_t sites() const { return map.bias.size() / letters; }
  /// Of the rows: whole vectors of any target.
  std::size_t places() const { return places_of(rows); }
  static std::size_t places_of(std::size_t rows) { return (rows + kMostLanes - 1) / kMostLanes * kMostLanes; }
};

/// Draws a site in some rows from `first` on, a bit for each: by sums in float, and where these leave it open by the
/// definition.
void decide_letters(const LetterCall& call, std::size_t first, std::uint32_t rows, std::size_t site);

/// What a thread needs.
struct LetterScratch {
  TileScratch tile;
  std::size_t tiles = 0;             // as many as the letters of a site can lie in
  AlignedVector<std::int32_t> sums;  // [tile][column, as `place` has them][place of a row]
  std::vector<std::size_t> places;   // of the sums of each letter of a site
  AlignedVector<float> weights;      // e^I of each letter of a site, for a vector of rows

  void fit(const LetterCall& call) {
    tiles = (call.letters + 2 * kTileColumns - 2) / kTileColumns;
    const std::size_t most_sums = tiles * kTileColumns * call.places();
    if (sums.size() < most_sums) sums.resize(most_sums);
    places.resize(std::max(places.size(), call.letters));
    if (weights.size() < kMostLanes * call.letters) weights.resize(kMostLanes * call.letters);
  }
};

}  // namespace ergodic
#endif

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
// Without vectors the definition runs instead.
void draw_sites(const LetterCall&, std::size_t, std::size_t, LetterScratch&) {}
void weigh_letters(const LetterCall&, std::size_t, std::size_t, std::span<float>) {}
void find_rules(const State&, const Affine&, const Terms&, LetterRules&) {}
#else

using DF = hn::CappedTag<float, 16>;
constexpr DF df;
constexpr hn::RebindToSigned<DF> di;
using VF = hn::VFromD<DF>;
constexpr std::size_t kRowLanes = hn::MaxLanes(df);

/// 2^x for |x| <= 115, off by less than 4e-6 of itself; beyond, that of the end.
HWY_INLINE VF exp2_of(VF x) {
  const hn::RebindToUnsigned<DF> du;
  const auto set = [](float value) HWY_ATTR { return hn::Set(df, value); };
  const VF y = hn::Min(hn::Max(x, set(-115.0f)), set(115.0f));
  const VF round = set(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  const VF shifted = hn::Add(y, round), r = hn::Sub(y, hn::Sub(shifted, round));
  // The polynomial of least relative error on [-1/2, 1/2].
  VF p = set(9.570102e-3f);
  for (const float c : {5.591786e-2f, 0.24024744f, 0.6931218f, 0.9999993f}) p = hn::MulAdd(p, r, set(c));
  // The last bits of `shifted` are the integer: as an exponent, with its bias of 127, they make its power.
  return hn::Mul(p, hn::BitCast(df, hn::ShiftLeft<23>(hn::Add(hn::BitCast(du, shifted), hn::Set(du, 127u)))));
}

/// The sums of a tile, a row for each column.
void find_sums(const LetterCall& call, std::size_t tile, LetterScratch& scratch, std::int32_t* HWY_RESTRICT out) {
  const Timed timed(call.profile, ProfiledStage::kProduct, call.rows * call.x.units() * kTileColumns);
  if (!call.few) add_up(*call.map.quantised, call.plan, tile, scratch.tile);
  const std::int32_t* const sums = call.few ? call.summed + tile * call.rows * kTileColumns : scratch.tile.sums.data();
  const std::size_t places = call.places();
  for (std::size_t r = 0; r < call.rows; r += kRowLanes) {
    for (std::size_t c = 0; c < kTileColumns; c += kRowLanes) {
      transpose_square(di, sums + r * kTileColumns + c, kTileColumns, out + c * places + r, places);
    }
  }
}

/// The upper 24 bits of the uniform numbers of a site, for a vector of rows.
HWY_INLINE VF uniforms(const LetterCall& call, std::size_t row, std::size_t site) {
  constexpr ArsTag<kRowLanes> d;
  constexpr std::uint32_t kInVector = hn::MaxLanes(d) / 4;
  alignas(16) static constexpr std::uint32_t kNext[4] = {0, kInVector, 0, 0};
  const Words first =
      call.draw.counter(call.first_chain + static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(site));
  hn::VFromD<decltype(d)> words[kRowLanes / kInVector];
  ars_vectors(d, call.draw.keys(), ars_counters(d, first, {0, 1, 0, 0}), hn::LoadDup128(d, kNext), words);
  alignas(kCacheLine) std::array<std::uint32_t, 4 * kRowLanes> all;
  for (std::size_t k = 0; k < std::size(words); ++k) hn::Store(words[k], d, all.data() + k * hn::MaxLanes(d));
  alignas(kCacheLine) std::array<std::int32_t, kRowLanes> upper;
  for (std::size_t k = 0; k < kRowLanes; ++k) upper[k] = static_cast<std::int32_t>(all[4 * k + 1] >> 8);
  return hn::Mul(hn::ConvertTo(df, hn::Load(di, upper.data())), hn::Set(df, 0x1p-24f));
}

/// The sums of the weights whose bits are set, for kUnits rows of `count` weights: each word serves all of them.
template <std::size_t kUnits>
HWY_INLINE void sums_of_on(const std::uint64_t* HWY_RESTRICT bits, const float* HWY_RESTRICT weights, std::size_t count,
                           float* HWY_RESTRICT out) {
  const LaneBits<DF> lanes;
  VF sums[kUnits];
  unroll<kUnits>([&](auto k) ERGODIC_LAMBDA { sums[k] = hn::Zero(df); });
  std::size_t i = 0;
  for (; i + kRowLanes <= count; i += kRowLanes) {
    const std::uint64_t word = bits[i / 64] >> (i % 64);
    unroll<kUnits>([&](auto k)
                       ERGODIC_LAMBDA { sums[k] = lanes.add(sums[k], word, hn::LoadU(df, weights + k * count + i)); });
  }
#if HWY_TARGET <= HWY_AVX2  // where what is beyond the end is not read
  if (i < count) {
    const auto mask = lanes.mask(bits[i / 64] >> (i % 64));
    unroll<kUnits>(
        [&](auto k) ERGODIC_LAMBDA { sums[k] = hn::Add(sums[k], hn::MaskedLoad(mask, df, weights + k * count + i)); });
    i = count;
  }
#endif
  unroll<kUnits>([&](auto k) ERGODIC_LAMBDA { out[k] = sum_of_lanes(df, sums[k]); });
  for (; i < count; ++i) {  // whether a bit is set cannot be guessed
    const auto set = static_cast<std::uint32_t>(bits[i / 64] >> (i % 64)) & 1u;
    for (std::size_t k = 0; k < kUnits; ++k) {
      out[k] += std::bit_cast<float>(std::bit_cast<std::uint32_t>(weights[k * count + i]) & (0u - set));
    }
  }
}

/// The weights of the letters of a site in one row of bits {0, 1}, by sums in float.
void weigh_letters(const LetterCall& call, std::size_t row, std::size_t site, std::span<float> out) {
  const Affine& map = call.map;
  const std::size_t first = site * call.letters, count = call.x.units();
  const std::uint64_t* bits = call.x.bits().row(call.first_row + row).data();
  const float* weights = map.transposed.row(first).data();
  constexpr std::size_t kUnits = 4;
  std::size_t a = 0;
  for (; a + kUnits <= call.letters; a += kUnits) sums_of_on<kUnits>(bits, weights + a * count, count, &out[a]);
  for (; a < call.letters; ++a) sums_of_on<1>(bits, weights + a * count, count, &out[a]);
  const auto beta = static_cast<float>(map.beta);
  for (a = 0; a < call.letters; ++a) {
    out[a] = kLog2e * (beta * (map.bias[first + a] + out[a]) + static_cast<float>(map.base_of(first + a)));
  }
  for (a = 0; a < call.letters; a += kRowLanes) hn::StoreU(exp2_of(hn::LoadU(df, &out[a])), df, &out[a]);
}

/// Draws a site of all rows.
HWY_INLINE void draw_site(const LetterCall& call, std::size_t site, LetterScratch& scratch) {
  const Timed timed(call.profile, ProfiledStage::kDraw);
  const std::size_t letters = call.letters, first = site * letters;
  float error = 0.0f;
  for (std::size_t a = 0; a < letters; ++a) {
    const std::size_t unit = first + a, slot = unit / kTileColumns % scratch.tiles;
    scratch.places[a] = (slot * kTileColumns + place(unit % kTileColumns)) * call.places();
    error = std::max(error, call.rules.error[unit]);
  }
  std::uint32_t* const drawn = call.drawn + site * call.places();
  const std::size_t* HWY_RESTRICT places = scratch.places.data();
  const std::int32_t* HWY_RESTRICT sums = scratch.sums.data();
  const float* HWY_RESTRICT scale = call.rules.scale.data() + first;
  const float* HWY_RESTRICT offset = call.rules.offset.data() + first;
  float* HWY_RESTRICT weights = scratch.weights.data();
  const auto set = [](float value) HWY_ATTR { return hn::Set(df, value); };
  for (std::size_t r = 0; r < call.rows; r += kRowLanes) {
    VF total = hn::Zero(df);
    for (std::size_t a = 0; a < letters; ++a) {
      const auto sum = hn::ConvertTo(df, hn::Load(di, sums + places[a] + r));
      const VF weight = exp2_of(hn::MulAdd(sum, set(scale[a]), set(offset[a])));
      hn::Store(weight, df, weights + a * kRowLanes);
      total = hn::Add(total, weight);
    }
    const VF uniform = uniforms(call, r, site), target = hn::Mul(total, uniform);
    VF beyond = hn::Neg(target), distance = total;  // of the border after each letter
    auto letter = hn::Zero(di);
    for (std::size_t a = 0; a + 1 < letters; ++a) {
      beyond = hn::Add(beyond, hn::Load(df, weights + a * kRowLanes));
      letter = hn::Sub(letter, hn::VecFromMask(di, hn::RebindMask(di, hn::Le(beyond, hn::Zero(df)))));
      distance = hn::Min(distance, hn::Abs(beyond));
    }
    hn::Store(letter, di, reinterpret_cast<std::int32_t*>(drawn + r));
    // See letters.hpp.
    const VF off = hn::MulAdd(set(error), hn::Load(df, call.rules.shares.data() + r), set(kFloatError));
    const VF spread = hn::Mul(off, hn::MulAdd(off, set(7.0f), set(2.0f)));
    const VF near = hn::Mul(total, hn::MulAdd(hn::Mul(uniform, hn::Sub(set(1.0f), uniform)), spread,
                                              set(0x1p-24f * static_cast<float>(2 * letters + 8))));
    const auto sure = hn::And(hn::And(hn::Gt(distance, near), hn::Lt(off, set(kLargeError))),
                              hn::And(hn::Gt(total, set(kLeastTotal)), hn::Lt(total, set(kMostTotal))));
    std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(df, hn::Not(sure), bytes);
    std::uint32_t unsure;
    std::memcpy(&unsure, bytes, sizeof(unsure));
    if (unsure != 0) decide_letters(call, r, unsure, site);
  }
}

/// Draws sites [begin, end), the first of which begins with a tile.
void draw_sites(const LetterCall& call, std::size_t begin, std::size_t end, LetterScratch& scratch) {
  std::size_t tile = begin * call.letters / kTileColumns;
  for (std::size_t site = begin; site < end; ++site) {
    for (; tile * kTileColumns < (site + 1) * call.letters; ++tile) {
      find_sums(call, tile, scratch, scratch.sums.data() + tile % scratch.tiles * kTileColumns * call.places());
    }
    draw_site(call, site, scratch);
  }
}

/// What makes fields of all sums.
void find_rules(const State& x, const Affine& map, const Terms& terms, LetterRules& out) {
  for (std::size_t tile = 0; tile < map.quantised->tiles(); ++tile) {
    const FieldRules rules = field_rules(x, map, terms, tile);
    for (std::size_t c = 0; c < kTileColumns; ++c) {
      const std::size_t unit = tile * kTileColumns + c;
      out.scale[unit] = kLog2e * rules.scale[c];
      out.offset[unit] = static_cast<float>(double{kLog2e} * rules.offset[c]);
      out.error[unit] = rules.error[c];
    }
  }
}
#endif
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(draw_sites);
HWY_EXPORT(weigh_letters);
HWY_EXPORT(find_rules);

constexpr std::size_t kMovedRows = 64;  // that a thread takes at a time
constexpr double kExpError = 1e-5;      // of e^x in float, as a share, where x is not too large

/// The sites that fill whole tiles: what a thread takes at a time.
std::size_t sites_of_task(std::size_t letters) { return kTileColumns / std::gcd(letters, kTileColumns); }

/// The letter that weights within a factor e^error draw, if it is certain.
std::optional<std::size_t> certain_letter(std::span<const float> weights, double uniform, double error) {
  double total = 0.0;
  for (const float w : weights) total += w;
  const double target = total * uniform;
  double below = 0.0;
  std::size_t letter = 0;
  while (letter + 1 < weights.size() && below + weights[letter] <= target) below += weights[letter++];
  // (e^2D - 1) / 4, and far more than sums in double are off.
  const double near = total * (0.53 * error + 1e-12);
  const bool first = letter == 0, last = letter + 1 == weights.size();
  const bool certain = error < kLargeError && total > kLeastTotal && total < kMostTotal &&
                       (first || target - below > near) && (last || below + weights[letter] - target > near);
  return certain ? std::optional(letter) : std::nullopt;
}

/// Draws sites [begin, end) where tables do not serve.
void decide_all(const LetterCall& call, std::size_t begin, std::size_t end) {
  for (std::size_t site = begin; site < end; ++site) {
    for (std::size_t r = 0; r < call.rows; r += kMostLanes) decide_letters(call, r, (1u << kMostLanes) - 1, site);
  }
}

/// Sets the bits of the letters that were drawn. Sites go by turns: no write waits for the one before it.
void set_letters(const LetterCall& call, std::size_t begin, std::size_t end, State& out) {
  const std::span<std::uint64_t> first = out.bits().row(call.first_row + begin);
  std::fill_n(first.data(), first.size() * (end - begin), 0);
  for (std::size_t site = 0; site < call.sites(); ++site) {
    const std::uint32_t* const drawn = call.drawn + site * call.places();
    std::uint64_t* bits = first.data();
    for (std::size_t r = begin; r < end; ++r, bits += first.size()) {
      const std::size_t unit = site * call.letters + drawn[r];
      bits[unit / Bits::kWordBits] |= std::uint64_t{1} << (unit % Bits::kWordBits);
    }
  }
}

}  // namespace

void decide_letters(const LetterCall& call, std::size_t first, std::uint32_t rows, std::size_t site) {
  const Timed timed(call.profile, ProfiledStage::kDecide);
  thread_local std::vector<double> fields, storage;
  thread_local std::vector<float> weights;
  fields.resize(call.letters);
  weights.resize(call.letters + kMostLanes);  // with room for what fills the last vector
  float reach = 0.0f;
  for (std::size_t a = 0; a < call.letters; ++a) {
    reach = std::max(reach, tempered_reach(call.map, site * call.letters + a));
  }
  for (; rows != 0; rows &= rows - 1) {
    const std::size_t r = first + static_cast<std::size_t>(std::countr_zero(rows));
    if (r >= call.rows) return;
    const auto chain = call.first_chain + static_cast<std::uint32_t>(r);
    const double uniform = call.draw.uniform(chain, static_cast<std::uint32_t>(site));
    std::optional<std::size_t> letter;
    if (!call.few && call.x.levels() == Levels{0.0f, 1.0f}) {  // where few are on, the definition is as fast
      HWY_DYNAMIC_DISPATCH(weigh_letters)(call, r, site, weights);
      // A sum in float is off by at most a roundoff of the reach for each addition that a term goes through: count / 4
      // in a lane, some for the last terms, the sum of lanes and the tempering.
      const double additions = 0.25 * static_cast<double>(call.x.units()) + 52.0;
      const double error = 0x1p-24 * additions * 1.1 * reach + kExpError;
      letter = certain_letter(std::span<const float>(weights).first(call.letters), uniform, error);
    }
    if (!letter) {
      defined_fields_of(call.x, call.first_row + r, call.map, site * call.letters, fields);
      letter = LetterWeights(fields, storage).drawn(uniform);
    }
    call.drawn[site * call.places() + r] = static_cast<std::uint32_t>(*letter);
  }
}

LetterWeights::LetterWeights(std::span<const double> fields, std::vector<double>& storage) : weights(storage) {
  storage.resize(fields.size());
  const auto [least, most] = std::ranges::minmax(fields);
  largest = most;
  if (least - largest >= -700.0) {  // nearly always
    for (std::size_t a = 0; a < fields.size(); ++a) storage[a] = exp_within(fields[a] - largest);
  } else {
    for (std::size_t a = 0; a < fields.size(); ++a) storage[a] = portable_exp(fields[a] - largest);
  }
  for (const double weight : storage) total += weight;
}

std::size_t LetterWeights::drawn(double uniform) const {
  double left = total * uniform;
  std::size_t letter = 0;
  while (letter + 1 < weights.size() && left >= weights[letter]) left -= weights[letter++];
  return letter;
}

bool letters_serve(const State& x) { return !plain_target() && !x.real(); }

void sample_letters(const State& x, const Affine& map, std::size_t letters, const Draw& draw, std::uint64_t first_chain,
                    State& out, const Context& context) {
  assert(letters_serve(x) && map.bias.size() % letters == 0 && out.units() == map.bias.size());
  thread_local LookupPlan kept_plan;  // so that sampling allocates nothing
  thread_local InputSums kept_sums;
  thread_local LetterRules kept_rules;
  thread_local AlignedVector<std::uint32_t> kept_letters;
  LookupPlan& plan = kept_plan;  // the same ones in all threads
  InputSums& found = kept_sums;
  LetterRules& rules = kept_rules;
  const bool tables = tables_serve(x, map, out), few = few_are_on(x);
  const std::size_t sites = map.bias.size() / letters, columns = map.quantised->tiles() * kTileColumns;
  if (rules.scale.size() != columns) rules = LetterRules(columns);
  for (std::size_t begin = 0; begin < x.chains(); begin += LookupPlan::kMaxRows) {
    const std::size_t rows = std::min(LookupPlan::kMaxRows, x.chains() - begin);
    if (tables) {
      if (few) {
        find_sparse_sums(x, begin, rows, *map.quantised, found, context);
      } else {
        plan.make(blocks_of(x.bits(), begin, rows), context);
        found.set_bits.resize(rows);
        plan.count_set_bits(found.set_bits);
      }
      const Terms terms(x, found.set_bits);
      std::transform(terms.shares(), terms.shares() + rows, rules.shares.begin(),
                     [](std::uint16_t share) { return 0x1p-16f * static_cast<float>(share); });
      HWY_DYNAMIC_DISPATCH(find_rules)(x, map, terms, rules);
    }
    const std::size_t drawn = sites * LetterCall::places_of(rows);
    if (kept_letters.size() < drawn) kept_letters.resize(drawn);
    const LetterCall call{.x = x,
                          .map = map,
                          .letters = letters,
                          .few = few,
                          .plan = plan,
                          .summed = found.sums.data(),
                          .rules = rules,
                          .first_row = begin,
                          .rows = rows,
                          .draw = draw,
                          .first_chain = static_cast<std::uint32_t>(first_chain + begin),
                          .drawn = kept_letters.data(),
                          .profile = context.profile};
    context.for_blocks(sites, sites_of_task(letters), [&](std::size_t first, std::size_t last) {
      if (!tables) return decide_all(call, first, last);
      thread_local LetterScratch scratch;
      scratch.fit(call);
      HWY_DYNAMIC_DISPATCH(draw_sites)(call, first, last, scratch);
    });
    context.for_blocks(rows, kMovedRows, [&](std::size_t first, std::size_t last) {
      const Timed timed(context.profile, ProfiledStage::kDraw);
      set_letters(call, first, last, out);
    });
  }
}

}  // namespace ergodic
#endif  // HWY_ONCE
