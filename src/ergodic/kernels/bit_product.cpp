#include "ergodic/kernels/bit_product.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/bit_product.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "ergodic/core/aligned.hpp"
#include "ergodic/kernels/lookup-inl.hpp"
#include "ergodic/kernels/unit_words.hpp"

// What all targets share.
#ifndef ERGODIC_BIT_PRODUCT_SHARED
#define ERGODIC_BIT_PRODUCT_SHARED
namespace ergodic {

namespace {
constexpr std::size_t kInputs = 32;         // whose tables the nearest cache holds at a time
constexpr std::size_t kGroup = 4;           // inputs whose sums are looked up at once
constexpr std::size_t kSums = 1 << kGroup;  // of a group
constexpr std::size_t kEntry = 128;         // bytes of a sum of rows
template <class T>
constexpr std::size_t kColumns = kEntry / sizeof(T);  // of the output
template <class T>
constexpr std::size_t kTableSize = kInputs / kGroup* kSums* kColumns<T>;
}  // namespace

/// Columns [column, column + width) of a product.
template <class T>
struct BitColumns {
  const Bits& bits;
  std::size_t first_row;
  Levels levels;
  MatrixView<const T> m;
  MatrixView<T> out;
  std::size_t column, width;
};

}  // namespace ergodic
#endif

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
template <class T>
constexpr hn::CappedTag<T, 64 / sizeof(T)> kTile{};
template <class T>
using Vector = hn::VFromD<hn::CappedTag<T, 64 / sizeof(T)>>;
template <class T>
constexpr std::size_t kTileLanes = hn::MaxLanes(kTile<T>);
constexpr std::size_t kTileVectors = kColumns<float> / kTileLanes<float>;

/// The tables of the inputs from `input` on, given their rows.
template <class T>
HWY_INLINE void fill_tables(const T* HWY_RESTRICT rows, std::size_t stride, Levels levels, T* HWY_RESTRICT tables) {
  const auto low = hn::Set(kTile<T>, static_cast<T>(levels.low)), high = hn::Set(kTile<T>, static_cast<T>(levels.high));
  for (std::size_t k = 0; k < kInputs; k += kGroup, tables += kSums * kColumns<T>) {
    for (std::size_t c = 0; c < kColumns<T>; c += kTileLanes<T>) {
      const auto sums_of_two = [&](std::size_t row, Vector<T>(&sums)[4]) HWY_ATTR {
        const T* const from = rows + row * stride + c;
        const auto a = hn::LoadU(kTile<T>, from), b = hn::LoadU(kTile<T>, from + stride);
        const auto a_low = hn::Mul(low, a), a_high = hn::Mul(high, a);
        const auto b_low = hn::Mul(low, b), b_high = hn::Mul(high, b);
        sums[0] = hn::Add(a_low, b_low);
        sums[1] = hn::Add(a_high, b_low);
        sums[2] = hn::Add(a_low, b_high);
        sums[3] = hn::Add(a_high, b_high);
      };
      Vector<T> first[4], second[4];
      sums_of_two(k, first);
      sums_of_two(k + 2, second);
      for (std::size_t e = 0; e < kSums; ++e) {
        hn::Store(hn::Add(first[e % 4], second[e / 4]), kTile<T>, tables + e * kColumns<T> + c);
      }
    }
  }
}

/// The same with zeros in the place of rows and columns that are not there.
template <class T>
void fill_cut_tables(const BitColumns<T>& call, std::size_t input, T* HWY_RESTRICT tables) {
  alignas(kCacheLine) std::array<T, kInputs * kColumns<T>> rows{};
  for (std::size_t k = 0; k < std::min(kInputs, call.m.rows() - input); ++k) {
    std::copy_n(&call.m(input + k, call.column), call.width, &rows[k * kColumns<T>]);
  }
  fill_tables(rows.data(), kColumns<T>, call.levels, tables);
}

/// Looks up the sums of kGroups groups for kRows rows, which go side by side, since each addition waits for the one
/// before it.
template <std::size_t kGroups, std::size_t kRows, class T>
HWY_INLINE void look_up_rows(const unsigned char* HWY_RESTRICT bits, std::size_t bytes_of_row, const T* tables,
                             T* HWY_RESTRICT out, std::size_t stride) {
  static_assert(kEntry == 1 << 7);
  const auto* HWY_RESTRICT bytes = reinterpret_cast<const std::uint8_t*>(tables);
  Vector<T> sums[kRows][kTileVectors];
  std::uint64_t moved[kRows];
  unroll<kRows>([&](auto r) ERGODIC_LAMBDA {
    std::uint32_t inputs;
    hwy::CopyBytes<sizeof(inputs)>(bits + r * bytes_of_row, &inputs);
    moved[r] = std::uint64_t{inputs} << 7;
    unroll<kTileVectors>(
        [&](auto v) ERGODIC_LAMBDA { sums[r][v] = hn::LoadU(kTile<T>, out + r * stride + v * kTileLanes<T>); });
  });
  unroll<kGroups>([&](auto g) ERGODIC_LAMBDA {
    unroll<kRows>([&](auto r) ERGODIC_LAMBDA {
      const std::uint64_t at = (moved[r] >> (kGroup * g)) & ((kSums - 1) * kEntry);
      const auto* HWY_RESTRICT entry = reinterpret_cast<const T*>(bytes + g * kSums * kEntry + at);
      unroll<kTileVectors>([&](auto v) ERGODIC_LAMBDA {
        sums[r][v] = hn::Add(sums[r][v], hn::Load(kTile<T>, entry + v * kTileLanes<T>));
        ERGODIC_KEEP_VECTOR(sums[r][v]);  // or GCC would gather the additions of each sum and run out of registers
      });
    });
  });
  unroll<kRows>([&](auto r) ERGODIC_LAMBDA {
    unroll<kTileVectors>(
        [&](auto v) ERGODIC_LAMBDA { hn::StoreU(sums[r][v], kTile<T>, out + r * stride + v * kTileLanes<T>); });
  });
}

/// The same for all rows.
template <std::size_t kGroups, class T>
HWY_INLINE void look_up_all(const BitColumns<T>& call, std::size_t half, const T* tables, T* out, std::size_t stride) {
  constexpr std::size_t kRows = kTileVectors <= 2 ? 4 : kTileVectors == 4 ? 2 : 1;
  const std::span<const std::uint64_t> first = call.bits.row(call.first_row);
  const std::size_t bytes = first.size_bytes(), rows = call.out.rows();
  const auto* bits = reinterpret_cast<const unsigned char*>(first.data()) + half * sizeof(std::uint32_t);
  std::size_t r = 0;
  for (; r + kRows <= rows; r += kRows, bits += kRows * bytes, out += kRows * stride) {
    look_up_rows<kGroups, kRows>(bits, bytes, tables, out, stride);
  }
  for (; r < rows; ++r, bits += bytes, out += stride) look_up_rows<kGroups, 1>(bits, bytes, tables, out, stride);
}

/// The same for a number of groups that is known at run time.
template <class T, std::size_t... kLess>
HWY_INLINE void look_up_groups(std::index_sequence<kLess...>, std::size_t groups, const BitColumns<T>& call,
                               std::size_t half, const T* tables, T* out, std::size_t stride) {
  ((groups == kLess + 1 ? look_up_all<kLess + 1>(call, half, tables, out, stride) : void()), ...);
}

template <class T>
void add_columns_of(const BitColumns<T>& call, T* HWY_RESTRICT tables, AlignedVector<T>& beside) {
  const std::size_t rows = call.out.rows(), stride = call.out.cols();
  T* const out = call.out.data() + call.column;
  const bool whole = call.width == kColumns<T>;
  if (!whole) {  // a tile that the edge cuts is computed beside the output
    beside.assign(rows * kColumns<T>, T{});
    for (std::size_t r = 0; r < rows; ++r) std::copy_n(out + r * stride, call.width, beside.data() + r * kColumns<T>);
  }
  for (std::size_t input = 0; input < call.m.rows(); input += kInputs) {
    if (whole && input + kInputs <= call.m.rows()) {
      fill_tables(&call.m(input, call.column), call.m.cols(), call.levels, tables);
    } else {
      fill_cut_tables(call, input, tables);
    }
    const std::size_t groups = (std::min(kInputs, call.m.rows() - input) + kGroup - 1) / kGroup;
    look_up_groups(std::make_index_sequence<kInputs / kGroup>{}, groups, call, input / kInputs, tables,
                   whole ? out : beside.data(), whole ? stride : kColumns<T>);
  }
  if (whole) return;
  for (std::size_t r = 0; r < rows; ++r) std::copy_n(beside.data() + r * kColumns<T>, call.width, out + r * stride);
}
#else
/// The definition.
template <class T>
void add_columns_of(const BitColumns<T>& call, T*, AlignedVector<T>&) {
  for (std::size_t r = 0; r < call.out.rows(); ++r) {
    for (std::size_t c = call.column; c < call.column + call.width; ++c) {
      const auto low = static_cast<T>(call.levels.low), high = static_cast<T>(call.levels.high);
      const auto term = [&](std::size_t k) {
        const T factor = k < call.m.rows() ? call.m(k, c) : T{};
        return (k < call.m.rows() && call.bits.get(call.first_row + r, k) ? high : low) * factor;
      };
      T& sum = call.out(r, c);
      for (std::size_t k = 0; k < call.m.rows(); k += kGroup) {
        sum = static_cast<T>(sum + ((term(k) + term(k + 1)) + (term(k + 2) + term(k + 3))));
      }
    }
  }
}
#endif

void add_float_columns(const BitColumns<float>& call, float* tables, AlignedVector<float>& beside) {
  add_columns_of(call, tables, beside);
}
void add_short_columns(const BitColumns<std::int16_t>& call, std::int16_t* tables,
                       AlignedVector<std::int16_t>& beside) {
  add_columns_of(call, tables, beside);
}

}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(add_float_columns);
HWY_EXPORT(add_short_columns);

template <class T, class Add>
void add_by_columns(const Bits& bits, std::size_t first_row, Levels levels, MatrixView<const T> m, MatrixView<T> out,
                    const Context& context, const Add& add) {
  assert(bits.cols() == m.rows() && first_row + out.rows() <= bits.rows() && m.cols() == out.cols());
  if (out.elements().empty() || m.rows() == 0) return;
  context.for_blocks(out.cols(), kColumns<T>, [&](std::size_t begin, std::size_t end) {
    thread_local AlignedVector<T> tables(kTableSize<T>), beside;
    add(BitColumns<T>{bits, first_row, levels, m, out, begin, end - begin}, tables.data(), beside);
  });
}

}  // namespace

void add_bit_product(const Bits& bits, std::size_t first_row, Levels levels, MatrixView<const float> m,
                     MatrixView<float> out, const Context& context) {
  add_by_columns(bits, first_row, levels, m, out, context, [](const auto& call, float* tables, auto& beside) {
    HWY_DYNAMIC_DISPATCH(add_float_columns)(call, tables, beside);
  });
}

void add_bit_product(const Bits& bits, std::size_t first_row, Levels levels, MatrixView<const std::int16_t> m,
                     MatrixView<std::int16_t> out, const Context& context) {
  add_by_columns(bits, first_row, levels, m, out, context, [](const auto& call, std::int16_t* tables, auto& beside) {
    HWY_DYNAMIC_DISPATCH(add_short_columns)(call, tables, beside);
  });
}

void transpose(const Bits& bits, Bits& out) {
  assert(out.rows() == bits.cols() && out.cols() == bits.rows());
  std::array<std::uint32_t, kTileChains> in;
  std::array<std::uint32_t, kTileUnits> turned;
  for (std::size_t row = 0; row < bits.rows(); row += kTileChains) {
    for (std::size_t column = 0; column < bits.cols(); column += kTileUnits) {
      for (std::size_t r = 0; r < kTileChains; ++r) {
        in[r] = row + r < bits.rows() ? bits.half_word(row + r, column / kTileUnits) : 0;
      }
      transpose_bits(in, turned);
      for (std::size_t c = 0; c < std::min(kTileUnits, bits.cols() - column); ++c) {
        out.set_half_word(column + c, row / kTileChains, turned[c]);
      }
    }
  }
}

}  // namespace ergodic
#endif  // HWY_ONCE
