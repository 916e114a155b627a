// Real units: normal with mean I / gamma and variance 1 / gamma.
#pragma once

#include "ergodic/model/real_units.hpp"

namespace ergodic {

struct Gaussian {
  static constexpr std::string_view kName = "gaussian";
  static constexpr std::string_view kHelp = "real with normal noise";
  static constexpr UnitValues kValues = UnitValues::kReals;
  static constexpr bool kReal = true, kForces = true;
  std::size_t units = 0;

  std::size_t site_size() const { return 1; }

  /// The sum of log(2 pi / gamma) / 2 + I^2 / (2 gamma).
  double log_sum(const LayerFields& at) const;
  double log_sum_change(const LayerFields& at, double from, double to) const {
    return difference_of_log_sums(*this, at, from, to);
  }
  void means(const LayerFields& at, std::span<float> out) const;
  void squares(const LayerFields& at, std::span<float> out) const;
  void draw(const LayerFields& at, const DrawTarget& to) const;
  void draw_given(const DrawGiven& call) const { draw_by_float_fields(*this, call); }
  void float_means(const FloatFields& at, std::span<float> out) const {
    for (std::size_t j = 0; j < units; ++j) out[j] = at.deviations[j] * at.deviations[j] * at.fields[j];
  }
  void draw_by_floats(const FloatFields& at, const DrawTarget& to) const {
    draw_normals(at, to.draw, to.chain, to.out.reals().row(to.row));
  }
  void set_first(Bits&, std::size_t, std::size_t) const {}
  void fields_for_means(std::span<const double> means, std::span<const double> deviations, double,
                        std::span<double> out) const {
    normal_fields(means, deviations, out);
  }

  bool operator==(const Gaussian&) const = default;
};

}  // namespace ergodic
