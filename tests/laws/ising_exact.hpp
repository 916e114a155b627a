// The exact distribution of the magnetisation of Ising's model on a torus of L x L spins, L even, by transfer matrices.
//
// Kaufman's formula has no field, but P(M) needs one: with the imaginary field i theta, phi(theta) = Z(i theta) / Z(0)
// is the mean of e^(i theta M). M has N + 1 values, N = L^2, so that N + 1 fields pi k / (N + 1) give P(M) by Fourier's
// sum; phi is real, the same at k and N + 1 - k, and soon so small that the other fields are left out.
//
// Z = Tr T^L with T = D^1/2 V D^1/2 on the 2^L states of a row: D has the couplings within the row and the field, V
// those between rows, one spin after the other. T is symmetric, so (T^L)_ss is the sum of squares of column s of
// T^(L/2). States that are turned or mirrored give the same, and flipped ones the complex conjugate: one of each class
// will do.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

namespace ergodic::test {

class IsingTorus {
 public:
  IsingTorus(unsigned side, double coupling)
      : side_(side), states_(1u << side), coupling_(coupling), weight_(states_), re_(states_), im_(states_) {
    for (std::uint32_t s = 0; s < states_; ++s) {
      const int bonds = static_cast<int>(side_) - 2 * std::popcount(s ^ turned(s));
      weight_[s] = std::exp(coupling_ * (bonds + static_cast<int>(side_)));  // with the e^K that V leaves out
    }
  }

  /// P(M) for M = N, N - 2, ..., -N, and log Z.
  struct Distribution {
    std::vector<double> p;
    double log_z = 0.0;

    /// The mean of |M| / N.
    double magnetisation() const {
      const double n = static_cast<double>(p.size() - 1);
      double sum = 0.0;
      for (std::size_t k = 0; k < p.size(); ++k) sum += p[k] * std::abs(n - 2.0 * static_cast<double>(k)) / n;
      return sum;
    }
  };

  Distribution distribution() {
    constexpr double kNothing = 1e-11;
    const unsigned n = side_ * side_;
    std::vector<double> z;
    while (z.size() <= n / 2) {
      Lanes thetas;
      for (std::size_t l = 0; l < kLanes; ++l) {
        thetas[l] = std::numbers::pi * static_cast<double>(z.size() + l) / (n + 1);
      }
      const Lanes found = partition(thetas);
      z.insert(z.end(), found.begin(), found.end());
      if (std::ranges::all_of(found, [&](double value) { return std::abs(value) < kNothing * z[0]; })) break;
    }
    z.resize(std::min<std::size_t>(z.size(), n / 2 + 1));
    Distribution out{std::vector<double>(n + 1), std::log(z[0])};
    for (unsigned k = 0; k <= n; ++k) {
      const double m = static_cast<double>(n) - 2.0 * k;
      double sum = 1.0;
      for (std::size_t f = 1; f < z.size(); ++f) {
        sum += 2.0 * z[f] / z[0] * std::cos(std::numbers::pi * static_cast<double>(f) / (n + 1) * m);
      }
      out.p[k] = sum / (n + 1);
    }
    return out;
  }

 private:
  static constexpr std::size_t kLanes = 4;  // fields at a time
  using Lanes = std::array<double, kLanes>;

  std::uint32_t turned(std::uint32_t s) const { return ((s << 1) | (s >> (side_ - 1))) & (states_ - 1); }
  std::uint32_t mirrored(std::uint32_t s) const {
    std::uint32_t out = 0;
    for (unsigned i = 0; i < side_; ++i) out |= ((s >> i) & 1u) << (side_ - 1 - i);
    return out;
  }
  /// How many states are like s; 0 if one of them is smaller.
  unsigned like(std::uint32_t s) const {
    std::vector<std::uint32_t> all;
    for (std::uint32_t start : {s, mirrored(s), ~s & (states_ - 1), mirrored(~s & (states_ - 1))}) {
      for (unsigned i = 0; i < side_; ++i) all.push_back(start = turned(start));
    }
    std::ranges::sort(all);
    if (all[0] < s) return 0;
    return static_cast<unsigned>(std::unique(all.begin(), all.end()) - all.begin());
  }

  /// Z at each field: the real part, since the sum over a state and its negative is real.
  Lanes partition(const Lanes& thetas) {
    Lanes out{};
    for (std::uint32_t s = 0; s < states_; ++s) {
      const unsigned count = like(s);
      if (count == 0) continue;
      start(s);
      for (unsigned row = 1; row < side_ / 2; ++row) {
        multiply_by_d(thetas);
        multiply_by_v(re_.data(), side_);
        multiply_by_v(im_.data(), side_);
      }
      const Lanes squares = sum_of_squares(s, thetas);
      for (std::size_t l = 0; l < kLanes; ++l) out[l] += count * squares[l];
    }
    return out;
  }

  /// V on the state s alone. D^1/2 of s is left to sum_of_squares.
  void start(std::uint32_t s) {
    for (std::uint32_t j = 0; j < states_; ++j) {
      re_[j].fill(std::exp(-2.0 * coupling_ * std::popcount(s ^ j)));
      im_[j].fill(0.0);
    }
  }

  /// e^(i theta m) for every sum m of the spins of a row.
  std::array<std::pair<Lanes, Lanes>, 33> phases(const Lanes& thetas) const {
    std::array<std::pair<Lanes, Lanes>, 33> out{};
    for (unsigned high = 0; high <= side_; ++high) {
      for (std::size_t l = 0; l < kLanes; ++l) {
        const double angle = thetas[l] * (2.0 * high - side_);
        out[high].first[l] = std::cos(angle);
        out[high].second[l] = std::sin(angle);
      }
    }
    return out;
  }

  void multiply_by_d(const Lanes& thetas) {
    const auto phase = phases(thetas);
    for (std::uint32_t j = 0; j < states_; ++j) {
      const auto& [c, s] = phase[static_cast<unsigned>(std::popcount(j))];
      for (std::size_t l = 0; l < kLanes; ++l) {
        const double re = re_[j][l] * weight_[j], im = im_[j][l] * weight_[j];
        re_[j][l] = re * c[l] - im * s[l];
        im_[j][l] = re * s[l] + im * c[l];
      }
    }
  }

  /// One spin after the other, two at a time, the highest first: the rest stays in the cache.
  void multiply_by_v(Lanes* x, unsigned bits) const {
    const double t = std::exp(-2.0 * coupling_);
    const std::size_t quarter = std::size_t{1} << (bits - 2);
    for (std::size_t j = 0; j < quarter; ++j) {
      Lanes &a = x[j], &b = x[j + quarter], &c = x[j + 2 * quarter], &d = x[j + 3 * quarter];
      for (std::size_t l = 0; l < kLanes; ++l) {
        const double ab = a[l] + t * b[l], ba = b[l] + t * a[l], cd = c[l] + t * d[l], dc = d[l] + t * c[l];
        a[l] = ab + t * cd;
        b[l] = ba + t * dc;
        c[l] = cd + t * ab;
        d[l] = dc + t * ba;
      }
    }
    for (std::size_t q = 0; q < 4 && bits > 2; ++q) multiply_by_v(x + q * quarter, bits - 2);
  }

  /// The sum over rows of the squared column, with D of the last row and of s.
  Lanes sum_of_squares(std::uint32_t s, const Lanes& thetas) const {
    const auto phase = phases(thetas);
    Lanes re{}, im{}, out{};
    for (std::uint32_t j = 0; j < states_; ++j) {
      const auto& [c, si] = phase[static_cast<unsigned>(std::popcount(j))];
      for (std::size_t l = 0; l < kLanes; ++l) {
        const double square_re = (re_[j][l] * re_[j][l] - im_[j][l] * im_[j][l]) * weight_[j];
        const double square_im = 2.0 * re_[j][l] * im_[j][l] * weight_[j];
        re[l] += square_re * c[l] - square_im * si[l];
        im[l] += square_re * si[l] + square_im * c[l];
      }
    }
    const auto& [c, si] = phase[static_cast<unsigned>(std::popcount(s))];
    for (std::size_t l = 0; l < kLanes; ++l) out[l] = weight_[s] * (re[l] * c[l] - im[l] * si[l]);
    return out;
  }

  unsigned side_;
  std::uint32_t states_;
  double coupling_;
  std::vector<double> weight_;
  std::vector<Lanes> re_, im_;  // a column of a power of T at each field
};

}  // namespace ergodic::test
