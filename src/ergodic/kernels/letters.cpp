#include "ergodic/kernels/letters.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/letters.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <optional>

#include "ergodic/core/aligned.hpp"
#include "ergodic/core/elementary.hpp"
#include "ergodic/kernels/ars-inl.hpp"
#include "ergodic/kernels/float_sampling.hpp"
#include "ergodic/kernels/target.hpp"

// What all targets share.
#ifndef ERGODIC_LETTERS_SHARED
#define ERGODIC_LETTERS_SHARED
namespace ergodic {

namespace {
constexpr std::size_t kSumUnits = 64;  // units whose sums are made at a time
constexpr std::size_t kRowsAtATime = 32;
constexpr std::size_t kWordsAtATime = 8;
}  // namespace

/// What a thread needs for some rows.
struct LetterScratch {
  std::array<std::vector<std::uint32_t>, kRowsAtATime> on;  // which inputs of each row are on
  Matrix<float> weights;                                    // e^I in float, of each row
  std::vector<Words> words;                                 // of the sites of a row
};

/// Rows [begin, begin + rows) of x and out.
struct LetterCall {
  const State& x;
  const Affine& map;
  std::size_t letters;
  std::span<const float> base;   // what tempering adds to each field
  std::span<const float> reach;  // the largest that any field of each site could be
  const Draw& draw;
  std::uint32_t first_chain;  // whose random numbers row 0 of x draws
  State& out;
  std::size_t begin, rows;
};

}  // namespace ergodic
#endif

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
// Without vectors the definition runs instead.
void weigh_letters(const LetterCall&, LetterScratch&) {}
void draw_words(const Draw&, std::uint32_t, LetterScratch&) {}
#else

/// e^x for |x| <= 80, off by less than kExpError of itself; beyond, that of the end.
template <class D, class V = hn::VFromD<D> >
HWY_INLINE V exp_of(D d, V x) {
  const hn::RebindToUnsigned<D> du;
  const auto set = [&](float value) HWY_ATTR { return hn::Set(d, value); };
  const V y = hn::Min(hn::Max(x, set(-80.0f)), set(80.0f));
  const V round = set(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  const V shifted = hn::MulAdd(y, set(1.44269504f), round), n = hn::Sub(shifted, round);
  const V r = hn::NegMulAdd(n, set(-2.12194440e-4f), hn::NegMulAdd(n, set(0.693359375f), y));
  V p = set(1.0f / 720.0f);
  for (const float c : {1.0f / 120.0f, 1.0f / 24.0f, 1.0f / 6.0f, 0.5f, 1.0f, 1.0f}) p = hn::MulAdd(p, r, set(c));
  // The last bits of `shifted` are n: as an exponent, with its bias of 127, they make 2^n.
  return hn::Mul(p, hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::BitCast(du, shifted), hn::Set(du, 127u)))));
}

/// The weights of the units that begin at each place, a vector of them, in one row.
template <std::size_t kVectors, class D>
HWY_INLINE void weigh_units(D d, const LetterCall& call, std::span<const std::uint32_t> on,
                            const std::array<std::size_t, kVectors>& places, float* out) {
  const Affine& map = call.map;
  hn::VFromD<D> sums[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) sums[v] = hn::LoadU(d, map.bias.data() + places[v]);
  for (const std::uint32_t i : on) {
    const float* HWY_RESTRICT row = map.weights.data() + i * map.weights.cols();
    for (std::size_t v = 0; v < kVectors; ++v) sums[v] = hn::Add(sums[v], hn::LoadU(d, row + places[v]));
  }
  const auto beta = hn::Set(d, static_cast<float>(map.beta));
  for (std::size_t v = 0; v < kVectors; ++v) {
    const auto field = hn::MulAdd(beta, sums[v], hn::LoadU(d, call.base.data() + places[v]));
    hn::StoreU(exp_of(d, field), d, out + places[v]);
  }
}

/// The weights of all letters of all rows, a tile after the other: its couplings stay in the cache while rows pass.
void weigh_letters(const LetterCall& call, LetterScratch& scratch) {
  const hn::CappedTag<float, 8> d;
  constexpr std::size_t kLanes = hn::MaxLanes(d), kVectors = kSumUnits / kLanes;
  const std::size_t units = call.map.bias.size();
  for (std::size_t first = 0; first < units; first += kSumUnits) {
    // Vectors that would go beyond the last unit are moved back: what they have in common is weighed twice.
    std::array<std::size_t, kVectors> places;
    for (std::size_t v = 0; v < kVectors; ++v) places[v] = std::min(first + v * kLanes, units - kLanes);
    for (std::size_t r = 0; r < call.rows; ++r) {
      weigh_units<kVectors>(d, call, scratch.on[r], places, scratch.weights.row(r).data());
    }
  }
}

/// The random words of the sites of a row, and some more.
void draw_words(const Draw& draw, std::uint32_t row, LetterScratch& scratch) {
  for (std::size_t s = 0; s < scratch.words.size(); s += kWordsAtATime) {
    const Words first = draw.counter(row, static_cast<std::uint32_t>(s));
    ars_words<kWordsAtATime>(draw.keys(), ars_counters(ArsTag<kWordsAtATime>(), first, {1, 0, 0, 0}),
                             scratch.words.data() + s);
  }
}
#endif
}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(weigh_letters);
HWY_EXPORT(draw_words);

constexpr double kExpError = 1e-6;    // of e^x in float, as a share
constexpr double kLargeError = 0.05;  // from there on e^2D - 1 is not nearly 2D
// Weights that may have been cut off, or of which too little is left.
constexpr double kLeastTotal = 1e-25, kMostTotal = 1e34;

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

/// By the definition.
std::size_t defined_letter(const LetterCall& call, std::span<const std::uint32_t> on, std::size_t site,
                           double uniform) {
  const std::size_t first = site * call.letters;
  std::vector<double> fields(call.letters), storage;
  for (std::size_t a = 0; a < call.letters; ++a) fields[a] = call.map.bias[first + a];
  for (const std::uint32_t i : on) {
    const std::span<const float> row = call.map.weights.row(i).subspan(first, call.letters);
    for (std::size_t a = 0; a < call.letters; ++a) fields[a] += row[a];
  }
  for (std::size_t a = 0; a < call.letters; ++a) fields[a] = call.map.tempered(fields[a], first + a);
  return LetterWeights(fields, storage).drawn(uniform);
}

void draw_row(const LetterCall& call, std::size_t r, LetterScratch& scratch) {
  const std::span<const std::uint32_t> on = scratch.on[r];
  const std::size_t row = call.begin + r;
  HWY_DYNAMIC_DISPATCH(draw_words)(call.draw, call.first_chain + static_cast<std::uint32_t>(row), scratch);
  const std::span<std::uint64_t> bits = call.out.bits().row(row);
  std::fill(bits.begin(), bits.end(), 0);
  for (std::size_t s = 0; s < call.reach.size(); ++s) {
    const double uniform = Draw::uniform(scratch.words[s]);
    // A sum in float is off by at most a roundoff of the reach for each addition; some for the tempering.
    const double error = 0x1p-24 * static_cast<double>(on.size() + 4) * 1.01 * call.reach[s] + kExpError;
    const auto weights = std::span<const float>(scratch.weights.row(r)).subspan(s * call.letters, call.letters);
    const auto certain = certain_letter(weights, uniform, error);
    const std::size_t unit = s * call.letters + (certain ? *certain : defined_letter(call, on, s, uniform));
    bits[unit / Bits::kWordBits] |= std::uint64_t{1} << (unit % Bits::kWordBits);
  }
}

}  // namespace

LetterWeights::LetterWeights(std::span<const double> fields, std::vector<double>& storage) : weights(storage) {
  storage.resize(fields.size());
  largest = *std::max_element(fields.begin(), fields.end());
  for (std::size_t a = 0; a < fields.size(); ++a) total += storage[a] = portable_exp(fields[a] - largest);
}

std::size_t LetterWeights::drawn(double uniform) const {
  double left = total * uniform;
  std::size_t letter = 0;
  while (letter + 1 < weights.size() && left >= weights[letter]) left -= weights[letter++];
  return letter;
}

bool letters_serve(const State& x, const Affine& map) {
  constexpr std::size_t kMostLanes = 8;
  return !plain_target() && !x.real() && x.levels() == Levels{0.0f, 1.0f} && map.bias.size() >= kMostLanes;
}

void sample_letters(const State& x, const Affine& map, std::size_t letters, const Draw& draw, std::uint64_t first_chain,
                    State& out, const Context& context) {
  assert(letters_serve(x, map) && map.bias.size() % letters == 0 && out.units() == map.bias.size());
  std::vector<float> base(map.bias.size()), reach(map.bias.size() / letters);
  for (std::size_t k = 0; k < base.size(); ++k) {
    base[k] = static_cast<float>(map.base_of(k));
    reach[k / letters] = std::max(reach[k / letters], tempered_reach(map, k));
  }
  context.for_blocks(x.chains(), kRowsAtATime, [&](std::size_t begin, std::size_t end) {
    thread_local LetterScratch scratch;
    const LetterCall call{x,   map,   letters,    base, reach, draw, static_cast<std::uint32_t>(first_chain),
                          out, begin, end - begin};
    for (std::size_t r = 0; r < call.rows; ++r) {
      scratch.on[r].clear();
      for_each_set(x.bits().row(begin + r),
                   [&](std::size_t i) { scratch.on[r].push_back(static_cast<std::uint32_t>(i)); });
    }
    if (scratch.weights.cols() != base.size()) scratch.weights = Matrix<float>(kRowsAtATime, base.size());
    scratch.words.resize((reach.size() + kWordsAtATime - 1) / kWordsAtATime * kWordsAtATime);
    HWY_DYNAMIC_DISPATCH(weigh_letters)(call, scratch);
    for (std::size_t r = 0; r < call.rows; ++r) draw_row(call, r, scratch);
  });
}

}  // namespace ergodic
#endif  // HWY_ONCE
