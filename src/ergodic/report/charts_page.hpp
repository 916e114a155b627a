// Charts side by side in a drawing of its own: a title, a legend of the curves, which all charts share, and the charts.
// Colours are those of Okabe and Ito (2008), which people who confuse red and green can tell apart too.
#pragma once

#include <span>
#include <string>

#include "ergodic/report/curves.hpp"

namespace ergodic {

/// An SVG file. The charts have curves of the same names in the same order; their titles stand above them.
std::string svg_page(const std::string& title, std::span<const Chart> charts);

}  // namespace ergodic
