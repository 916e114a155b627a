#include "ergodic/data/digits.hpp"

#include <algorithm>
#include <cmath>

#include "ergodic/core/elementary.hpp"
#include "ergodic/data/digit_strokes.hpp"

namespace ergodic {
namespace {

// The spread of hands, tuned by eye and by MNIST's statistics of ink. Lengths are in units of 1/100 of a digit's
// height unless they say pixels; `spread` is a standard deviation.
constexpr double kBlendMargin = 0.15;   // how far a blend may go beyond its two masters
constexpr double kWarpSpread = 5.0;     // of each coefficient of the smooth warp
constexpr double kKnotSpread = 2.5;     // of a single knot
constexpr double kKnotMemory = 0.5;     // correlation of neighbouring knots
constexpr double kAspectSpread = 0.17;  // of the logarithm of width / height
constexpr double kSlantMean = 0.14;     // shear: writers lean to the right
constexpr double kSlantSpread = 0.20;
constexpr double kSlantLow = -0.35, kSlantHigh = 0.55;
constexpr double kHalfTurnSpread = 0.05;  // of tan(angle / 2)
constexpr double kWidthMedian = 2.7;      // pixels
constexpr double kWidthSpread = 0.26;     // of the logarithm of the pen's width
constexpr double kWidthLow = 1.7, kWidthHigh = 4.4;
constexpr double kBoldStretch = 0.3;               // a bold pen writes wider, or it would fill its own loops
constexpr double kPressureSpread = 0.11;           // of the width at a knot, relative
constexpr double kGap = 1.7;                       // pixels of paper that stay between strokes on average
constexpr double kWidest = 1.0;                    // width / height of the widest digit
constexpr double kTaper = 0.45;                    // the most that a stroke's end is thinner, relative
constexpr double kTremorSpread = 0.35;             // of each point of the path
constexpr double kGrainSpread = 0.05;              // of the width at each point of the path, relative
constexpr double kNibSpread = 0.13;                // of the extra width across the nib, relative
constexpr double kEdgeLow = 0.9, kEdgeHigh = 1.5;  // pixels from paper to full ink
constexpr double kBoxLow = 19.0, kBoxHigh = 20.0;  // pixels of the longer side of the ink
constexpr double kMiddle = 0.5 * kDigitSide;

/// The numbers of one row of a draw, one after the other.
class Dice {
 public:
  Dice(const Draw& draw, std::uint32_t row) : draw_(draw), row_(row) {}

  double uniform(double low = 0.0, double high = 1.0) { return low + (high - low) * draw_.uniform(row_, next_++); }
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(draw_.below(bound, row_, next_++)); }

  /// Nearly normal with variance 1, but never beyond 3.5: a tail would make digits that cannot be read.
  double bell() {
    const Words words = draw_.words(row_, next_++);
    double sum = 0.0;
    for (const std::uint32_t word : words) sum += static_cast<double>(word) * 0x1p-32;
    constexpr double kRootThree = 1.7320508075688772;  // four uniforms have variance 1/3
    return (sum - 2.0) * kRootThree;
  }

 private:
  const Draw& draw_;
  std::uint32_t row_;
  std::uint32_t next_ = 0;
};

/// Values that wander around 0 with a variance near 1: neighbours resemble each other.
class Wander {
 public:
  double next(Dice& dice) {
    value_ = kKnotMemory * value_ + std::sqrt(1.0 - kKnotMemory * kKnotMemory) * dice.bell();
    return value_;
  }

 private:
  double value_ = 0.0;
};

/// What is the same throughout one digit: the writer's pen and hand.
struct Hand {
  double width;      // of the pen, in pixels
  double aspect;     // width / height, relative to the masters
  double slant;      // shear to the right
  double half_turn;  // tan(angle / 2) of the rotation
  double roundness;  // of corners, 0 to 1
  double taper;      // how much thinner a stroke ends
  double edge;       // pixels from full ink to paper
  double box;        // pixels of the longer side of the ink
};

const DigitForm& choose_form(std::size_t label, Dice& dice) {
  const auto forms = digit_forms(label);
  double rest = dice.uniform();
  for (const DigitForm& form : forms) {
    if (rest < form.share) return form;
    rest -= form.share;
  }
  return forms.back();
}

Hand choose_hand(Dice& dice) {
  const double boldness = kWidthSpread * dice.bell();
  Hand hand;
  hand.width = std::clamp(kWidthMedian * portable_exp(boldness), kWidthLow, kWidthHigh);
  hand.aspect = portable_exp(kAspectSpread * dice.bell() + kBoldStretch * std::max(boldness, 0.0));
  hand.half_turn = kHalfTurnSpread * dice.bell();
  const double turn = 2.0 * hand.half_turn;  // a turn leans the digit too: the limits hold for both together
  hand.slant = std::clamp(kSlantMean + kSlantSpread * dice.bell(), kSlantLow - turn, kSlantHigh - turn);
  hand.roundness = dice.uniform();
  hand.taper = std::max(0.0, dice.uniform(-kTaper, kTaper));
  hand.edge = dice.uniform(kEdgeLow, kEdgeHigh);
  hand.box = dice.uniform(kBoxLow, kBoxHigh);
  return hand;
}

/// A point between two masters of the form, or a little beyond; every knot then shifts by itself.
DigitSkeleton sketch(const DigitForm& form, const Hand& hand, Dice& dice) {
  const std::size_t count = form.joints.size();
  const auto first = form.masters.subspan(dice.below(form.masters.size() / count) * count, count);
  const auto second = form.masters.subspan(dice.below(form.masters.size() / count) * count, count);
  const double t = dice.uniform(-kBlendMargin, 1.0 + kBlendMargin);
  DigitSkeleton skeleton{form.joints, {}, {}};
  Wander x, y, pressure;
  for (std::size_t k = 0; k < count; ++k) {
    const StrokePoint shift = {kKnotSpread * x.next(dice), kKnotSpread * y.next(dice)};
    skeleton.knots[k] = blend(first[k], second[k], t) + shift;
    skeleton.pressure[k] = 1.0 + kPressureSpread * pressure.next(dice);
    if (form.joints[k] == kEnd) skeleton.pressure[k] *= 1.0 - hand.taper;
  }
  return skeleton;
}

/// Bends the whole plane by a random quadratic, so that near strokes stay near and crossings stay crossings.
void warp(DigitSkeleton& skeleton, Dice& dice) {
  std::array<double, 6> c;
  for (double& coefficient : c) coefficient = kWarpSpread * dice.bell();
  for (std::size_t k = 0; k < skeleton.joints.size(); ++k) {
    StrokePoint& p = skeleton.knots[k];
    const double u = (p.x - 30.0) / 40.0, v = (p.y - 50.0) / 50.0;  // about -1..1 over the digit
    p = p + StrokePoint{c[0] * u * u + c[1] * u * v + c[2] * v * v, c[3] * u * u + c[4] * u * v + c[5] * v * v};
  }
}

/// Stretches, leans and turns the digit.
void pose(const Hand& hand, DigitSkeleton& skeleton) {
  const double t = hand.half_turn;  // cosine and sine are rational functions of it
  const double cosine = (1.0 - t * t) / (1.0 + t * t), sine = 2.0 * t / (1.0 + t * t);
  for (std::size_t k = 0; k < skeleton.joints.size(); ++k) {
    StrokePoint& p = skeleton.knots[k];
    const double x = hand.aspect * p.x - hand.slant * p.y;
    p = {cosine * x - sine * p.y, sine * x + cosine * p.y};
  }
}

/// An unsteady hand on rough paper: every point of the path is a little off, and a little thicker or thinner.
void shake(PenPath& path, Dice& dice) {
  for (PenPoint& point : path) {
    point.at = point.at + StrokePoint{kTremorSpread * dice.bell(), kTremorSpread * dice.bell()};
    point.radius *= 1.0 + kGrainSpread * dice.bell();
  }
}

/// The corners of the box around a path.
struct Box {
  StrokePoint low, high;

  StrokePoint size() const { return high - low; }
};

Box bounds(const PenPath& path) {
  Box box = {path.front().at, path.front().at};
  for (const PenPoint& point : path) {
    box.low = {std::min(box.low.x, point.at.x), std::min(box.low.y, point.at.y)};
    box.high = {std::max(box.high.x, point.at.x), std::max(box.high.y, point.at.y)};
  }
  return box;
}

/// Narrows a digit that came out too wide.
void press(PenPath& path) {
  const StrokePoint size = bounds(path).size();
  const double factor = std::min(1.0, kWidest * size.y / size.x);
  for (PenPoint& point : path) point.at.x *= factor;
}

/// Shears a path upright: afterwards its x and y are uncorrelated.
PenPath upright(PenPath path) {
  const StrokePoint middle = blend(bounds(path).low, bounds(path).high, 0.5);
  StrokePoint sum = {0.0, 0.0};
  double product = 0.0, square = 0.0;
  for (const PenPoint& point : path) {
    const StrokePoint p = point.at - middle;
    sum = sum + p;
    product += p.x * p.y;
    square += p.y * p.y;
  }
  const double count = static_cast<double>(path.size());
  const double slope = (product - sum.x * sum.y / count) / (square - sum.y * sum.y / count);
  for (PenPoint& point : path) point.at.x -= slope * point.at.y;
  return path;
}

/// The width of the pen, less where the path of this digit would clog: a line across the digit meets the path
/// length / height times on average, and between two strokes a gap must stay. A slant widens the box of a digit but not
/// its loops, so it is taken out first.
double readable_width(const Hand& hand, const PenPath& slanted) {
  const StrokePoint box = bounds(slanted).size();
  const double pixel = std::max(box.x, box.y) / (hand.box - hand.width);
  const PenPath path = upright(slanted);
  double total = 0.0;
  for (std::size_t i = 1; i < path.size(); ++i) {
    if (!path[i - 1].lifts) total += length(path[i].at - path[i - 1].at);
  }
  const StrokePoint size = bounds(path).size();
  const double pitch = size.x / std::max(total / size.y - 1.0, 1e-3);  // from one stroke's middle to the next one's
  return std::clamp(pitch / pixel - kGap, kWidthLow, hand.width);
}

/// Gives the path the pen's width in pixels: wider across the nib than along it.
void ink_width(const Hand& hand, PenPath& path, Dice& dice) {
  const double radius = 0.5 * readable_width(hand, path);
  const double nib = kNibSpread * dice.bell();
  const StrokePoint axis = {dice.uniform(-1.0, 1.0), dice.uniform(-1.0, 1.0)};
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::size_t from = path[i].lifts ? i - 1 : i;  // a stroke has at least two points
    const StrokePoint way = path[from + 1].at - path[from].at;
    const double along = (way.x * axis.x + way.y * axis.y) / (length(axis) * length(way) + 1e-9);
    path[i].radius *= radius * (1.0 + nib * (along * along - 0.5));
  }
}

/// Scales the path so that its ink fills the hand's box in the middle of the image.
void fit(const Hand& hand, PenPath& path) {
  double radius = 0.0;
  for (const PenPoint& point : path) radius = std::max(radius, point.radius);
  const Box box = bounds(path);
  const double scale = (hand.box - 2.0 * radius) / std::max(box.size().x, box.size().y);
  const StrokePoint centre = blend(box.low, box.high, 0.5), middle = {kMiddle, kMiddle};
  for (PenPoint& point : path) point.at = middle + scale * (point.at - centre);
}

using Image = std::array<double, kDigitPixels>;

/// Darkens the pixels between two points: full ink within the radius, falling linearly to paper over `edge` pixels.
void stamp(const PenPoint& a, const PenPoint& b, double edge, Image& image) {
  const StrokePoint way = b.at - a.at;
  const double inverse = 1.0 / (way.x * way.x + way.y * way.y + 1e-12);
  const double reach = std::max(a.radius, b.radius) + 0.5 * edge;
  const auto first = [&](double low) { return static_cast<std::size_t>(std::max(0.0, low - reach)); };
  const auto last = [&](double high) { return std::min(kDigitSide, static_cast<std::size_t>(high + reach) + 1); };
  const std::size_t left = first(std::min(a.at.x, b.at.x)), right = last(std::max(a.at.x, b.at.x));
  const std::size_t top = first(std::min(a.at.y, b.at.y)), bottom = last(std::max(a.at.y, b.at.y));
  for (std::size_t row = top; row < bottom; ++row) {
    for (std::size_t column = left; column < right; ++column) {
      const StrokePoint p = StrokePoint{static_cast<double>(column) + 0.5, static_cast<double>(row) + 0.5} - a.at;
      const double t = std::clamp((p.x * way.x + p.y * way.y) * inverse, 0.0, 1.0);
      const double radius = a.radius + t * (b.radius - a.radius);
      const double ink = 0.5 + (radius - length(p - t * way)) / edge;
      double& pixel = image[row * kDigitSide + column];
      pixel = std::max(pixel, std::min(ink, 1.0));
    }
  }
}

/// Where the ink of one axis lies: the first and last line with ink, and the centre of mass.
struct Extent {
  std::size_t first = kDigitSide, last = 0;
  double mass = 0.0, moment = 0.0;

  void add(std::size_t line, double ink) {
    if (ink <= 0.0) return;
    first = std::min(first, line);
    last = std::max(last, line);
    mass += ink;
    moment += ink * (static_cast<double>(line) + 0.5);
  }

  /// The shift by whole lines that brings the centre of mass nearest to the middle and keeps the border lines clean.
  int shift() const {
    const int wanted = static_cast<int>(kMiddle - moment / mass + kDigitSide + 0.5) - static_cast<int>(kDigitSide);
    const int low = 1 - static_cast<int>(first), high = static_cast<int>(kDigitSide) - 2 - static_cast<int>(last);
    return std::clamp(wanted, low, high);
  }
};

/// Moves the ink to the middle and rounds it to bytes.
void centre(const Image& image, Digit& digit) {
  Extent rows, columns;
  for (std::size_t i = 0; i < kDigitPixels; ++i) {
    rows.add(i / kDigitSide, image[i]);
    columns.add(i % kDigitSide, image[i]);
  }
  const std::ptrdiff_t shift = std::ptrdiff_t{rows.shift()} * static_cast<std::ptrdiff_t>(kDigitSide) + columns.shift();
  digit.pixels.fill(0);
  for (std::size_t i = 0; i < kDigitPixels; ++i) {
    if (image[i] <= 0.0) continue;
    digit.pixels[static_cast<std::size_t>(static_cast<std::ptrdiff_t>(i) + shift)] =
        static_cast<std::uint8_t>(image[i] * 255.0 + 0.5);
  }
}

}  // namespace

Digit draw_digit(const Draw& draw, std::uint32_t index) {
  Dice dice(draw, index);
  Digit digit;
  digit.label = static_cast<std::uint8_t>(dice.below(kDigitClasses));
  const Hand hand = choose_hand(dice);
  DigitSkeleton skeleton = sketch(choose_form(digit.label, dice), hand, dice);
  warp(skeleton, dice);
  pose(hand, skeleton);
  PenPath path = trace(skeleton, hand.roundness);
  shake(path, dice);
  press(path);
  ink_width(hand, path, dice);
  fit(hand, path);
  Image image{};
  for (std::size_t i = 1; i < path.size(); ++i) {
    if (!path[i - 1].lifts) stamp(path[i - 1], path[i], hand.edge, image);
  }
  centre(image, digit);
  return digit;
}

}  // namespace ergodic
