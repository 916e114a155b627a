// What units of two values have in common, whatever their levels: high with probability sigmoid(gap I).
#pragma once

#include <span>

#include "ergodic/model/units.hpp"

namespace ergodic {

void two_valued_means(Levels levels, const LayerFields& at, std::span<float> out);
void two_valued_means(Levels levels, const FloatFields& at, std::span<float> out);
void two_valued_draw(Levels levels, const LayerFields& at, const DrawTarget& to);
void two_valued_draw_given(const DrawGiven& call);
/// The logits of the shares of high values, which are taken to be no closer to 0 and 1 than `margin`.
void two_valued_fields(Levels levels, std::span<const double> means, double margin, std::span<double> out);

}  // namespace ergodic
