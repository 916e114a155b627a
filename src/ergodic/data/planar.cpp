#include "ergodic/data/planar.hpp"

#include <string>

#include "ergodic/core/elementary.hpp"

namespace ergodic {
namespace {

struct Point {
  double x, y;
  int label;
};

/// The point at an angle of a circle about the origin; angles are in half turns.
Point on_circle(double radius, double half_turns, int label) {
  const double t = half_turns - 2.0 * std::floor(0.5 * half_turns);  // in [0, 2)
  const auto cosine = [](double s) { return s <= 1.0 ? cos_pi(s) : cos_pi(2.0 - s); };
  const double quarter = t >= 0.5 ? t - 0.5 : t + 1.5;  // sin(a) = cos(a - 90 degrees)
  return {radius * cosine(t), radius * cosine(quarter), label};
}

/// Points by place(uniform number, row), each with normal noise.
template <class F>
Dataset noisy_points(std::string name, std::size_t count, std::uint8_t stream, double deviation, const F& place) {
  Dataset out{std::move(name), Matrix<float>(count, 2)};
  const Draw draw = Key{}.at(Purpose::kSynthetic, 1, stream);
  for (std::size_t r = 0; r < count; ++r) {
    const auto row = static_cast<std::uint32_t>(r);
    const Point p = place(draw.uniform(row, 0), draw.words(row, 1)[0]);
    out.reals()(r, 0) = static_cast<float>(p.x + deviation * draw.normal(row, 2));
    out.reals()(r, 1) = static_cast<float>(p.y + deviation * draw.normal(row, 3));
    out.labels.push_back(p.label);
  }
  return out;
}

}  // namespace

Dataset eight_gaussians(std::size_t count, std::uint8_t stream) {
  return noisy_points("eight-gaussians", count, stream, 0.2, [](double, std::uint32_t bits) {
    const auto which = static_cast<int>(bits % 8);
    return on_circle(2.0, 0.25 * which, which);
  });
}

Dataset two_moons(std::size_t count, std::uint8_t stream) {
  return noisy_points("two-moons", count, stream, 0.1, [](double uniform, std::uint32_t bits) {
    if (bits % 2 == 0) return on_circle(1.0, uniform, 0);
    const Point p = on_circle(1.0, uniform, 1);
    return Point{1.0 - p.x, 0.5 - p.y, 1};
  });
}

Dataset rings(std::size_t count, std::uint8_t stream) {
  return noisy_points("rings", count, stream, 0.1, [](double uniform, std::uint32_t bits) {
    const auto which = static_cast<int>(bits % 2);
    return on_circle(1.0 + which, 2.0 * uniform, which);
  });
}

}  // namespace ergodic
