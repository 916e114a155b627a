// The skeletons of the ten digits, and the smooth curve of a pen through them.
//
// A form is one way to write a class. Its masters are whole versions of it, drawn knot for knot alike, so that any
// blend of two masters is again a digit: few masters give a continuum of hands.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace ergodic {

/// A point of the writing plane: x to the right, y down, the digit about 100 high.
struct StrokePoint {
  double x;
  double y;
};

inline StrokePoint operator+(StrokePoint a, StrokePoint b) { return {a.x + b.x, a.y + b.y}; }
inline StrokePoint operator-(StrokePoint a, StrokePoint b) { return {a.x - b.x, a.y - b.y}; }
inline StrokePoint operator*(double s, StrokePoint a) { return {s * a.x, s * a.y}; }
inline StrokePoint blend(StrokePoint a, StrokePoint b, double t) { return a + t * (b - a); }
inline double length(StrokePoint a) { return std::sqrt(a.x * a.x + a.y * a.y); }

/// One way to write a class.
struct DigitForm {
  double share;                          // how often it is chosen among the forms of its class
  std::string_view joints;               // one letter a knot, see below
  std::span<const StrokePoint> masters;  // joints.size() points for each master, one master after the other
};

/// The letters of `DigitForm::joints`: the curve runs smoothly through a knot, turns there, or ends (the pen lifts).
inline constexpr char kSmooth = '~';
inline constexpr char kCorner = '^';
inline constexpr char kEnd = '|';

/// No form has more knots than this.
inline constexpr std::size_t kMaxKnots = 16;

/// The forms of a class 0..9; their shares add up to 1.
std::span<const DigitForm> digit_forms(std::size_t label);

/// One digit on its way to paper: its knots, how they join, and the pen's pressure at each (1 on average).
struct DigitSkeleton {
  std::string_view joints;
  std::array<StrokePoint, kMaxKnots> knots;
  std::array<double, kMaxKnots> pressure;
};

/// A point of the pen's path, and the radius of the ink there; the next point is joined to it unless the pen lifts.
struct PenPoint {
  StrokePoint at;
  double radius;
  bool lifts;
};
using PenPath = std::vector<PenPoint>;

/// The smooth curve through the knots as short straight pieces, with the pressure for a radius. `roundness` from 0 to 1
/// says how far corners are smoothed away.
PenPath trace(const DigitSkeleton& skeleton, double roundness);

}  // namespace ergodic
