#include "ergodic/kernels/smooth_layers.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ergodic/kernels/smooth_layers.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/highway.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <utility>

#include "ergodic/kernels/float_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ergodic::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, kLayerLanes>;
constexpr std::size_t kDoubles = hn::MaxLanes(Doubles());
constexpr std::size_t kVectors = kLayerLanes / kDoubles;                // of a tile
constexpr std::size_t kTileHeight = kVectors <= 2 ? 8 : 16 / kVectors;  // rows of a tile, whose sums stay in registers

/// a b + c, rounded once.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V fused(D d, V a, V b, V c) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(a, b, c);
#else
  HWY_ALIGN double lanes[3][hn::MaxLanes(D())];
  hn::Store(a, d, lanes[0]);
  hn::Store(b, d, lanes[1]);
  hn::Store(c, d, lanes[2]);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) lanes[2][i] = std::fma(lanes[0][i], lanes[1][i], lanes[2][i]);
  return hn::Load(d, lanes[2]);
#endif
}

/// Rows [row, row + kRows) of the product.
template <std::size_t kRows>
HWY_INLINE void multiply_rows(MatrixView<const double> a, MatrixView<const double> b, std::span<const double> bias,
                              std::size_t row, MatrixView<double> out) {
  const Doubles d;
  const double* const factors = a.data() + row * a.cols();
  for (std::size_t column = 0; column < b.cols(); column += kLayerLanes) {
    hn::VFromD<Doubles> sums[kRows][kVectors];
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        sums[r][v] = bias.empty() ? hn::Zero(d) : hn::LoadU(d, bias.data() + column + v * kDoubles);
      }
    }
    const double* HWY_RESTRICT from = b.data() + column;
    for (std::size_t i = 0; i < b.rows(); ++i, from += b.cols()) {
      for (std::size_t r = 0; r < kRows; ++r) {
        const auto factor = hn::Set(d, factors[r * a.cols() + i]);
        for (std::size_t v = 0; v < kVectors; ++v) {
          sums[r][v] = fused(d, factor, hn::LoadU(d, from + v * kDoubles), sums[r][v]);
        }
      }
    }
    for (std::size_t r = 0; r < kRows; ++r) {
      double* const to = out.data() + (row + r) * out.cols() + column;
      for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sums[r][v], d, to + v * kDoubles);
    }
  }
}

void multiply_all(MatrixView<const double> a, MatrixView<const double> b, std::span<const double> bias,
                  MatrixView<double> out) {
  std::size_t row = 0;
  for (; row + kTileHeight <= a.rows(); row += kTileHeight) multiply_rows<kTileHeight>(a, b, bias, row, out);
  for (; row < a.rows(); ++row) multiply_rows<1>(a, b, bias, row, out);
}

/// e^x for |x| <= 700; relative error of a few 1e-16.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V exp_of_doubles(D d, V x) {
  const hn::RebindToUnsigned<D> du;
  const auto set = [&](double value) HWY_ATTR { return hn::Set(d, value); };
  const V round = set(6755399441055744.0);  // 1.5 * 2^52: adding it rounds to an integer
  const V rounded = fused(d, x, set(1.4426950408889634), round), n = hn::Sub(rounded, round);
  // ln 2 in two parts, the first of which has few enough bits for an exact product.
  const V r = fused(d, n, set(-1.90821492927058770002e-10), fused(d, n, set(-6.93147180369123816490e-01), x));
  static constexpr double kTaylor[] = {
      1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0, 1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0,
      1.0 / 120.0,      1.0 / 24.0,      1.0 / 6.0,      0.5,           1.0,          1.0};
  V p = set(1.0 / 479001600.0);
  for (const double c : kTaylor) p = fused(d, p, r, set(c));
  // The last bits of `rounded` are n: as an exponent, with its bias of 1023, they make 2^n.
  return hn::Mul(
      p, hn::BitCast(d, hn::ShiftLeft<52>(hn::Add(hn::BitCast(du, rounded), hn::Set(du, std::uint64_t{1023})))));
}

template <class D>
HWY_INLINE void activate_at(D d, double* fields) {
  const auto f = hn::LoadU(d, fields), one = hn::Set(d, 1.0), most = hn::Set(d, 700.0), size = hn::Abs(f);
  const auto e = exp_of_doubles(d, hn::Neg(hn::IfThenElse(hn::Lt(size, most), size, most)));
  hn::StoreU(hn::Mul(f, hn::Div(hn::IfThenElse(hn::Ge(f, hn::Zero(d)), one, e), hn::Add(one, e))), d, fields);
}

void activate_all(std::span<double> fields) {
  const hn::CappedTag<double, 1> d1;
  std::size_t i = 0;
  for (; i + kDoubles <= fields.size(); i += kDoubles) activate_at(Doubles(), fields.data() + i);
  for (; i < fields.size(); ++i) activate_at(d1, fields.data() + i);
}

template <class D>
HWY_INLINE void activate_with_slopes_at(D d, float* fields, float* slopes) {
  const auto f = hn::LoadU(d, fields), s = sigmoid_of(d, f), value = hn::Mul(f, s);
  hn::StoreU(value, d, fields);
  hn::StoreU(hn::Add(s, hn::Mul(value, hn::Sub(hn::Set(d, 1.0f), s))), d, slopes);
}

void activate_with_slopes(std::span<float> fields, std::span<float> slopes) {
  const hn::CappedTag<float, 16> d;
  const hn::CappedTag<float, 1> d1;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= fields.size(); i += hn::Lanes(d)) {
    activate_with_slopes_at(d, fields.data() + i, slopes.data() + i);
  }
  for (; i < fields.size(); ++i) activate_with_slopes_at(d1, fields.data() + i, slopes.data() + i);
}

}  // namespace ergodic::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ergodic {
namespace {
HWY_EXPORT(multiply_all);
HWY_EXPORT(activate_all);
HWY_EXPORT(activate_with_slopes);
}  // namespace

void multiply_layer(MatrixView<const double> a, MatrixView<const double> b, std::span<const double> bias,
                    MatrixView<double> out) {
  assert(b.cols() % kLayerLanes == 0 && out.cols() == b.cols() && a.cols() >= b.rows() && a.rows() == out.rows());
  HWY_DYNAMIC_DISPATCH(multiply_all)(a, b, bias, out);
}

void activate_smoothly(std::span<double> fields) { HWY_DYNAMIC_DISPATCH(activate_all)(fields); }

void activate_smoothly(std::span<float> fields, std::span<float> slopes) {
  assert(fields.size() == slopes.size());
  HWY_DYNAMIC_DISPATCH(activate_with_slopes)(fields, slopes);
}

}  // namespace ergodic
#endif  // HWY_ONCE
