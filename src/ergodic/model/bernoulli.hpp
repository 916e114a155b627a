// Units in {0, 1}.
#pragma once

#include "ergodic/kernels/log_sums.hpp"
#include "ergodic/model/two_valued.hpp"

namespace ergodic {

struct Bernoulli {
  static constexpr std::string_view kName = "bernoulli";
  static constexpr std::string_view kHelp = "{0,1}";
  static constexpr UnitValues kValues = UnitValues::kBits;
  static constexpr bool kReal = false, kForces = false;
  static constexpr Levels kLevels{0.0f, 1.0f};
  std::size_t units = 0;

  std::size_t site_size() const { return 1; }
  std::size_t site_values() const { return 2; }
  double even_share() const { return 0.5; }

  /// The sum of log(1 + e^I).
  double log_sum(const LayerFields& at) const { return sum_softplus(at.fields); }
  double log_sum_change(const LayerFields& at, double from, double to) const {
    return softplus_change(at.fields, from, to);
  }
  void means(const LayerFields& at, std::span<float> out) const { two_valued_means(kLevels, at, out); }
  void draw(const LayerFields& at, const DrawTarget& to) const { two_valued_draw(kLevels, at, to); }
  void draw_given(const DrawGiven& call) const { two_valued_draw_given(call); }
  void float_means(const FloatFields& at, std::span<float> out) const { two_valued_means(kLevels, at, out); }
  void draw_by_floats(const FloatFields& at, const DrawTarget& to) const {
    draw_coins(at.fields, kLevels.gap(), to.draw, to.chain, to.out.bits().row(to.row));
  }
  void set_first(Bits&, std::size_t, std::size_t) const {}
  void fields_for_means(std::span<const double> means, std::span<const double>, double margin,
                        std::span<double> out) const {
    two_valued_fields(kLevels, means, margin, out);
  }

  bool operator==(const Bernoulli&) const = default;
};

}  // namespace ergodic
