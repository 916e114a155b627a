#include "ergodic/data/digit_strokes.hpp"

#include <array>
#include <cassert>

namespace ergodic {
namespace {

// A row below is one master. Looking at a sheet of digits is the only way to judge a change here.
// clang-format off

constexpr StrokePoint kZero[] = {
    {38, 3}, {14, 16}, {2, 46}, {10, 82}, {36, 99}, {62, 84}, {72, 50}, {62, 16}, {36, 2},   // wide
    {30, 2}, {14, 20}, {6, 50}, {10, 80}, {24, 98}, {40, 84}, {48, 50}, {44, 18}, {28, 0},   // narrow
    {52, 10}, {26, 2}, {6, 30}, {4, 66}, {26, 98}, {56, 84}, {66, 44}, {52, 10}, {26, 10},   // ends overlap
    {44, 8}, {16, 14}, {2, 48}, {14, 88}, {42, 98}, {68, 74}, {66, 30}, {50, 8}, {36, 9},    // starts at the right
    {50, 6}, {20, 10}, {0, 46}, {14, 84}, {48, 96}, {82, 80}, {92, 44}, {76, 12}, {46, 6},   // round
};
constexpr StrokePoint kZeroTail[] = {
    {20, 6}, {6, 34}, {6, 70}, {26, 97}, {52, 84}, {62, 48}, {50, 14}, {26, 5}, {28, 18}, {52, 12},  // small knot at the top
    {34, 10}, {8, 30}, {4, 68}, {30, 98}, {62, 80}, {66, 40}, {46, 6}, {26, 6}, {22, 16}, {36, 20},  // curls inwards
};

constexpr StrokePoint kOne[] = {
    {4, 0}, {2, 34}, {2, 67}, {0, 100},
    {0, 0}, {6, 34}, {7, 67}, {2, 100},
    {6, 0}, {0, 34}, {0, 67}, {5, 100},
    {8, 0}, {5, 34}, {3, 67}, {0, 100},
};
constexpr StrokePoint kOneFlag[] = {
    {0, 22}, {12, 12}, {22, 0}, {22, 50}, {21, 100},
    {0, 34}, {16, 20}, {30, 0}, {28, 50}, {25, 100},
    {6, 14}, {14, 9}, {22, 0}, {23, 50}, {22, 100},
};
constexpr StrokePoint kOneFoot[] = {
    {2, 22}, {14, 13}, {26, 0}, {26, 50}, {25, 98}, {0, 99}, {26, 98}, {52, 97},
    {6, 16}, {16, 9}, {24, 0}, {25, 50}, {26, 97}, {6, 98}, {26, 99}, {46, 96},
    {0, 30}, {16, 18}, {32, 0}, {30, 50}, {28, 96}, {-4, 97}, {26, 96}, {60, 98},
};

constexpr StrokePoint kTwo[] = {
    {4, 24}, {18, 5}, {44, 3}, {56, 22}, {42, 54}, {4, 96}, {32, 94}, {66, 95},  // plain
    {2, 14}, {22, 3}, {50, 4}, {58, 20}, {36, 52}, {0, 90}, {38, 90}, {78, 88},  // wide
    {6, 30}, {14, 8}, {34, 1}, {46, 22}, {34, 58}, {6, 97}, {28, 93}, {54, 98},  // narrow
    {0, 18}, {24, 6}, {56, 2}, {66, 16}, {40, 50}, {2, 94}, {42, 96}, {84, 86},  // nearly a Z
    {8, 22}, {22, 4}, {42, 6}, {50, 26}, {36, 64}, {0, 98}, {30, 88}, {62, 92},  // tall neck
};
constexpr StrokePoint kTwoLoop[] = {
    {8, 20}, {28, 3}, {50, 10}, {50, 36}, {34, 68}, {14, 92}, {1, 92}, {6, 78}, {26, 80}, {46, 94}, {72, 88},
    {4, 28}, {20, 4}, {46, 4}, {54, 28}, {36, 62}, {10, 94}, {-2, 86}, {12, 76}, {32, 88}, {50, 98}, {74, 94},
    {0, 16}, {24, 1}, {56, 6}, {60, 30}, {40, 66}, {18, 94}, {2, 98}, {0, 84}, {22, 82}, {50, 92}, {86, 82},
};

constexpr StrokePoint kThree[] = {
    {6, 14}, {28, 1}, {50, 10}, {46, 32}, {22, 46}, {48, 54}, {58, 76}, {36, 98}, {2, 90},  // plain
    {0, 8}, {30, 2}, {58, 8}, {52, 32}, {22, 48}, {58, 54}, {68, 78}, {38, 98}, {-4, 92},   // wide
    {8, 16}, {24, 2}, {42, 12}, {38, 34}, {20, 46}, {42, 56}, {48, 78}, {30, 99}, {4, 90},  // narrow
    {4, 20}, {26, 3}, {46, 10}, {42, 30}, {24, 40}, {54, 48}, {66, 74}, {40, 98}, {0, 84},  // big belly
    {6, 10}, {32, 0}, {60, 12}, {54, 42}, {26, 54}, {46, 58}, {54, 76}, {34, 97}, {6, 94},  // big head
};
constexpr StrokePoint kThreeLoop[] = {
    {6, 14}, {30, 2}, {52, 12}, {46, 36}, {26, 50}, {18, 44}, {28, 38}, {52, 52}, {60, 78}, {34, 99}, {0, 88},
    {0, 18}, {26, 4}, {50, 8}, {46, 34}, {22, 52}, {12, 44}, {28, 38}, {58, 50}, {66, 76}, {38, 98}, {2, 92},
};
constexpr StrokePoint kThreeFlat[] = {
    {2, 5}, {30, 4}, {58, 2}, {34, 40}, {58, 52}, {60, 78}, {32, 99}, {2, 90},
    {0, 3}, {30, 3}, {58, 4}, {36, 38}, {56, 52}, {56, 80}, {26, 98}, {-2, 88},
};

constexpr StrokePoint kFourOpen[] = {
    {12, 4}, {6, 30}, {2, 54}, {32, 55}, {66, 50}, {52, 6}, {48, 52}, {42, 100},
    {16, 0}, {8, 28}, {0, 50}, {30, 58}, {60, 54}, {46, 2}, {44, 52}, {43, 100},
    {6, 10}, {6, 34}, {6, 58}, {38, 58}, {74, 56}, {56, 0}, {54, 50}, {52, 100},
    {24, 6}, {12, 36}, {-2, 62}, {32, 62}, {68, 58}, {56, 22}, {46, 62}, {34, 100},
};
constexpr StrokePoint kFourClosed[] = {
    {44, 0}, {22, 32}, {0, 64}, {36, 64}, {70, 61}, {45, 1}, {44, 50}, {42, 100},
    {48, 4}, {26, 36}, {4, 58}, {34, 60}, {62, 56}, {48, 3}, {44, 52}, {38, 100},
    {40, 2}, {16, 38}, {-4, 70}, {34, 70}, {76, 68}, {42, 0}, {44, 50}, {46, 100},
};
constexpr StrokePoint kFourTurned[] = {
    {10, 4}, {2, 28}, {4, 48}, {30, 52}, {54, 38}, {60, 2}, {54, 50}, {46, 100},
    {6, 8}, {4, 30}, {12, 50}, {36, 50}, {52, 34}, {56, 8}, {54, 52}, {52, 100},
    {20, 0}, {6, 26}, {0, 50}, {28, 56}, {56, 48}, {66, 6}, {54, 50}, {38, 100},
};

constexpr StrokePoint kFive[] = {
    {62, 2}, {40, 3}, {18, 5}, {12, 42}, {36, 37}, {56, 52}, {54, 82}, {30, 98}, {0, 90},   // plain
    {74, 2}, {46, 6}, {20, 8}, {10, 48}, {34, 40}, {58, 54}, {56, 82}, {28, 98}, {-6, 94},  // wide
    {52, 4}, {32, 4}, {14, 3}, {10, 44}, {28, 40}, {44, 56}, {44, 82}, {26, 98}, {4, 92},   // narrow
    {58, 0}, {40, 4}, {24, 6}, {14, 36}, {40, 34}, {60, 54}, {54, 84}, {28, 97}, {2, 84},   // big belly
    {66, 6}, {46, 4}, {22, 4}, {8, 50}, {34, 44}, {52, 58}, {50, 82}, {26, 99}, {0, 96},    // long neck
};
constexpr StrokePoint kFiveBar[] = {
    {18, 6}, {14, 24}, {11, 42}, {36, 38}, {56, 54}, {53, 82}, {28, 98}, {0, 90}, {19, 5}, {42, 5}, {70, 2},
    {16, 10}, {14, 28}, {12, 46}, {36, 42}, {52, 58}, {48, 84}, {26, 97}, {4, 94}, {12, 6}, {36, 4}, {60, 4},
    {24, 4}, {18, 22}, {10, 44}, {38, 36}, {60, 56}, {52, 84}, {24, 98}, {-4, 88}, {26, 5}, {52, 8}, {82, 0},
};
constexpr StrokePoint kFiveRound[] = {
    {62, 6}, {42, 0}, {20, 8}, {12, 26}, {26, 42}, {46, 54}, {54, 74}, {36, 96}, {2, 92},
    {70, 2}, {44, 4}, {22, 12}, {16, 34}, {34, 44}, {52, 58}, {52, 80}, {28, 98}, {-4, 88},
};

constexpr StrokePoint kSix[] = {
    {44, 0}, {22, 22}, {6, 54}, {8, 86}, {28, 99}, {50, 88}, {52, 66}, {32, 56}, {7, 75},   // plain
    {54, 0}, {30, 20}, {8, 52}, {6, 84}, {30, 98}, {58, 88}, {60, 66}, {38, 55}, {6, 73},   // wide
    {26, 0}, {14, 24}, {6, 54}, {8, 86}, {24, 99}, {40, 90}, {42, 70}, {28, 60}, {8, 74},   // narrow
    {46, 5}, {28, 8}, {8, 40}, {3, 76}, {24, 98}, {48, 88}, {48, 66}, {28, 58}, {2, 76},    // bent head
    {36, 0}, {12, 28}, {2, 60}, {8, 88}, {30, 98}, {54, 82}, {46, 60}, {22, 62}, {8, 82},   // curls inwards
    {20, 0}, {8, 30}, {2, 62}, {8, 90}, {32, 99}, {58, 88}, {56, 64}, {32, 54}, {3, 74},    // upright
};

constexpr StrokePoint kSeven[] = {
    {0, 8}, {28, 6}, {58, 3}, {38, 46}, {28, 100},
    {2, 3}, {36, 5}, {68, 4}, {46, 48}, {30, 100},
    {2, 10}, {26, 8}, {52, 4}, {40, 48}, {34, 100},
    {0, 4}, {30, 8}, {62, 8}, {54, 46}, {48, 100},
    {-4, 12}, {28, 6}, {60, 2}, {36, 50}, {20, 98},
};
constexpr StrokePoint kSevenHook[] = {
    {2, 24}, {6, 6}, {32, 7}, {60, 4}, {42, 46}, {32, 100},
    {0, 20}, {2, 4}, {30, 5}, {56, 2}, {46, 48}, {40, 100},
    {8, 28}, {8, 10}, {36, 8}, {66, 2}, {40, 50}, {24, 100},
};
constexpr StrokePoint kSevenBar[] = {
    {0, 8}, {28, 6}, {58, 3}, {40, 46}, {30, 100}, {14, 52}, {36, 49}, {60, 46},
    {4, 4}, {34, 5}, {66, 5}, {46, 48}, {32, 100}, {20, 46}, {42, 48}, {66, 50},
    {0, 12}, {28, 8}, {54, 2}, {40, 50}, {36, 100}, {12, 58}, {34, 52}, {60, 50},
};
constexpr StrokePoint kSevenRound[] = {
    {0, 14}, {16, 4}, {40, 2}, {54, 14}, {46, 48}, {38, 76}, {32, 100},
    {2, 10}, {24, 6}, {48, 2}, {58, 20}, {54, 50}, {48, 76}, {46, 100},
};

constexpr StrokePoint kEight[] = {
    {50, 15}, {31, 1}, {11, 15}, {14, 36}, {32, 52}, {46, 74}, {36, 96}, {13, 97}, {4, 78}, {18, 58}, {42, 38}, {49, 13},
    {62, 14}, {36, 0}, {10, 14}, {14, 37}, {38, 53}, {58, 76}, {44, 97}, {15, 97}, {2, 78}, {18, 58}, {50, 38}, {60, 11},
    {40, 14}, {25, 1}, {9, 15}, {12, 36}, {26, 53}, {36, 76}, {29, 97}, {12, 97}, {4, 78}, {14, 57}, {34, 37}, {39, 12},
    {60, 8}, {38, 3}, {16, 15}, {17, 36}, {31, 53}, {42, 74}, {30, 96}, {8, 97}, {-2, 79}, {14, 58}, {42, 34}, {66, 2},
    {50, 12}, {28, 2}, {11, 16}, {16, 34}, {40, 50}, {56, 72}, {42, 97}, {14, 97}, {0, 76}, {16, 53}, {40, 34}, {48, 10},
};
constexpr StrokePoint kEightRings[] = {
    {28, 2}, {12, 10}, {8, 28}, {26, 49}, {44, 30}, {44, 12}, {26, 2}, {27, 49}, {6, 62}, {6, 88}, {28, 99}, {48, 86}, {48, 64}, {26, 49},
    {30, 1}, {14, 8}, {12, 26}, {28, 46}, {46, 26}, {44, 8}, {32, 2}, {28, 46}, {4, 60}, {6, 86}, {30, 98}, {54, 88}, {54, 60}, {30, 46},
};

constexpr StrokePoint kNine[] = {
    {52, 12}, {28, 1}, {6, 18}, {10, 42}, {34, 44}, {52, 14}, {52, 48}, {46, 100},   // plain
    {62, 10}, {34, 0}, {4, 18}, {8, 44}, {38, 46}, {62, 14}, {58, 50}, {46, 100},    // wide
    {42, 12}, {24, 2}, {8, 20}, {10, 44}, {30, 42}, {42, 14}, {42, 48}, {40, 100},   // narrow
    {50, 20}, {34, 2}, {8, 14}, {4, 38}, {26, 46}, {50, 22}, {44, 56}, {26, 100},    // leans
    {48, 6}, {20, 6}, {4, 30}, {18, 50}, {40, 40}, {50, 8}, {54, 50}, {54, 100},     // open head
};
constexpr StrokePoint kNineHook[] = {
    {52, 12}, {28, 1}, {6, 20}, {14, 44}, {38, 42}, {52, 14}, {56, 48}, {46, 86}, {24, 99}, {4, 90},
    {46, 10}, {26, 2}, {8, 22}, {14, 46}, {36, 40}, {46, 12}, {50, 50}, {42, 86}, {24, 98}, {8, 88},
    {58, 10}, {30, 0}, {4, 16}, {8, 40}, {36, 42}, {58, 16}, {58, 54}, {40, 92}, {14, 98}, {-2, 84},
};

constexpr DigitForm kZeroForms[] = {{0.85, "~~~~~~~~|", kZero}, {0.15, "~~~~~~~~~|", kZeroTail}};
constexpr DigitForm kOneForms[] = {{0.74, "~~~|", kOne}, {0.16, "~~^~|", kOneFlag}, {0.10, "~~^~|~~|", kOneFoot}};
constexpr DigitForm kTwoForms[] = {{0.6, "~~~~~^~|", kTwo}, {0.4, "~~~~~~~~~~|", kTwoLoop}};
constexpr DigitForm kThreeForms[] = {
    {0.72, "~~~~^~~~|", kThree}, {0.2, "~~~~~~~~~~|", kThreeLoop}, {0.08, "~~^^~~~|", kThreeFlat}};
constexpr DigitForm kFourForms[] = {
    {0.55, "~~^~|~~|", kFourOpen}, {0.2, "~~^~|~~|", kFourClosed}, {0.25, "~~~~~^~|", kFourTurned}};
constexpr DigitForm kFiveForms[] = {
    {0.5, "~~^^~~~~|", kFive}, {0.35, "~~^~~~~|~~|", kFiveBar}, {0.15, "~~~~~~~~|", kFiveRound}};
constexpr DigitForm kSixForms[] = {{1.0, "~~~~~~~~|", kSix}};
constexpr DigitForm kSevenForms[] = {
    {0.5, "~~^~|", kSeven}, {0.2, "~^~^~|", kSevenHook}, {0.15, "~~^~|~~|", kSevenBar}, {0.15, "~~~~~~|", kSevenRound}};
constexpr DigitForm kEightForms[] = {{0.8, "~~~~~~~~~~~|", kEight}, {0.2, "~~~~~~|~~~~~~|", kEightRings}};
constexpr DigitForm kNineForms[] = {{0.85, "~~~~~^~|", kNine}, {0.15, "~~~~~^~~~|", kNineHook}};
// clang-format on

constexpr std::array<std::span<const DigitForm>, 10> kForms = {kZeroForms,  kOneForms,  kTwoForms, kThreeForms,
                                                               kFourForms,  kFiveForms, kSixForms, kSevenForms,
                                                               kEightForms, kNineForms};

/// The tables are typed by hand: whole masters, knots that fit, a pen lifted at the end, shares that add up to 1.
constexpr bool forms_are_sound() {
  for (const auto& forms : kForms) {
    double total = 0.0;
    for (const DigitForm& form : forms) {
      if (form.joints.empty() || form.joints.size() > kMaxKnots || form.joints.back() != kEnd) return false;
      if (form.masters.empty() || form.masters.size() % form.joints.size() != 0) return false;
      total += form.share;
    }
    if (total < 0.999999 || total > 1.000001) return false;
  }
  return true;
}
static_assert(forms_are_sound());

constexpr double kStep = 6.0;  // the length of a straight piece: a little more than a pixel

/// `vector` at length 1. Knots never coincide, but a zero would only stay zero.
StrokePoint direction(StrokePoint vector) { return (1.0 / (length(vector) + 1e-9)) * vector; }

/// The velocity at knot k per unit of chord, where the curve leaves it or where it arrives: that of the parabola
/// through the knot and its neighbours, that of the chord at an end, and something between the two at a corner.
StrokePoint velocity(const DigitSkeleton& s, std::size_t k, bool leaves, double roundness) {
  const bool starts = k == 0 || s.joints[k - 1] == kEnd;
  if (starts) return direction(s.knots[k + 1] - s.knots[k]);
  const StrokePoint before = s.knots[k] - s.knots[k - 1];
  if (s.joints[k] == kEnd) return direction(before);
  const StrokePoint after = s.knots[k + 1] - s.knots[k];
  const double weight = length(before) / (length(before) + length(after) + 1e-9);
  const StrokePoint smooth = blend(direction(before), direction(after), weight);
  if (s.joints[k] == kSmooth) return smooth;
  return blend(direction(leaves ? after : before), smooth, roundness);
}

}  // namespace

std::span<const DigitForm> digit_forms(std::size_t label) {
  assert(label < kForms.size());
  return kForms[label];
}

// Cubic Hermite pieces between the knots, with the length of the chord as parameter (uneven knots then make no loops).
PenPath trace(const DigitSkeleton& skeleton, double roundness) {
  PenPath path;
  path.reserve(96);
  const auto& [joints, knots, pressure] = skeleton;
  for (std::size_t k = 0; k < joints.size(); ++k) {
    path.push_back({knots[k], pressure[k], joints[k] == kEnd});
    if (joints[k] == kEnd) continue;
    const double chord = length(knots[k + 1] - knots[k]);
    const StrokePoint leave = chord * velocity(skeleton, k, true, roundness);
    const StrokePoint arrive = chord * velocity(skeleton, k + 1, false, roundness);
    const int count = 1 + static_cast<int>(chord / kStep);
    for (int i = 1; i < count; ++i) {
      const double t = static_cast<double>(i) / count;
      const double rise = t * t * (3.0 - 2.0 * t);
      const StrokePoint bend = (t * (1.0 - t)) * ((1.0 - t) * leave - t * arrive);
      const double radius = pressure[k] + rise * (pressure[k + 1] - pressure[k]);
      path.push_back({blend(knots[k], knots[k + 1], rise) + bend, radius, false});
    }
  }
  return path;
}

}  // namespace ergodic
