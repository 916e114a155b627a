// Real units that are not negative: the normal of gaussian.hpp, cut off below zero (Nair and Hinton 2010; Tubiana and
// Monasson 2017).
#pragma once

#include "ergodic/model/real_units.hpp"

namespace ergodic {

struct Relu {
  static constexpr std::string_view kName = "relu";
  static constexpr std::string_view kHelp = "real and not negative";
  static constexpr UnitValues kValues = UnitValues::kNonnegativeReals;
  static constexpr bool kReal = true, kForces = false;
  std::size_t units = 0;

  std::size_t site_size() const { return 1; }

  double log_sum(const LayerFields& at) const;
  double log_sum_change(const LayerFields& at, double from, double to) const {
    return difference_of_log_sums(*this, at, from, to);
  }
  void means(const LayerFields& at, std::span<float> out) const;
  void squares(const LayerFields& at, std::span<float> out) const;
  void draw(const LayerFields& at, const DrawTarget& to) const;
  void draw_given(const DrawGiven& call) const { draw_by_float_fields(*this, call); }
  void float_means(const FloatFields& at, std::span<float> out) const { positive_normal_means(at, out); }
  void draw_by_floats(const FloatFields& at, const DrawTarget& to) const {
    draw_positive_normals(at, to.draw, to.chain, to.out.reals().row(to.row));
  }
  void set_first(Bits&, std::size_t, std::size_t) const {}
  /// As if nothing were cut off.
  void fields_for_means(std::span<const double> means, std::span<const double> deviations, double,
                        std::span<double> out) const {
    normal_fields(means, deviations, out);
  }

  bool operator==(const Relu&) const = default;
};

}  // namespace ergodic
