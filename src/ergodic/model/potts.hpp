// Sites with one of several letters each. A site is as many units in {0, 1} as there are letters, of which one is on.
#pragma once

#include "ergodic/model/units.hpp"

namespace ergodic {

struct Potts {
  static constexpr std::string_view kName = "potts";
  static constexpr std::string_view kHelp = "letters";
  static constexpr UnitValues kValues = UnitValues::kLetters;
  static constexpr bool kReal = false, kForces = false;
  static constexpr Levels kLevels{0.0f, 1.0f};
  std::size_t units = 0;  ///< sites * letters
  std::size_t letters = 0;

  /// UsageError for fewer than two letters, and for units that are no whole number of sites.
  static Potts make(std::size_t units, std::size_t letters);

  std::size_t sites() const { return units / letters; }
  std::size_t site_size() const { return letters; }
  std::size_t site_values() const { return letters; }
  double even_share() const { return 1.0 / static_cast<double>(letters); }

  /// The sum over sites of the log of the sum over letters of e^I.
  double log_sum(const LayerFields& at) const;
  double log_sum_change(const LayerFields& at, double from, double to) const {
    return difference_of_log_sums(*this, at, from, to);
  }
  void means(const LayerFields& at, std::span<float> out) const;
  void draw(const LayerFields& at, const DrawTarget& to) const;
  void draw_given(const DrawGiven& call) const;
  /// Draws these sites alone, where they are units `first_unit` and following of a larger layer, with the uniform
  /// numbers from index `first_uniform` on.
  void draw_part_given(const DrawGiven& call, std::size_t first_unit, std::uint32_t first_uniform) const;
  /// The first letter of each site.
  void set_first(Bits& bits, std::size_t row, std::size_t first_unit) const;
  void fields_for_means(std::span<const double> means, std::span<const double>, double margin,
                        std::span<double> out) const;

  bool operator==(const Potts&) const = default;
};

}  // namespace ergodic
