#include "ergodic/report/logo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "ergodic/core/error.hpp"
#include "ergodic/report/canvas.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kSitesInALine = 60, kSiteWidth = 17, kLineHeight = 100;
constexpr std::size_t kLeft = 40, kRight = 12, kTop = 22, kBelow = 28;  // around a line
constexpr std::size_t kNumberedSites = 10;
constexpr std::size_t kLeastHeight = 4;  // pixels; lower letters cannot be read
constexpr Colour kGap = {178, 182, 190};

/// A colour for each letter: hues by the golden ratio, so that neighbours in the alphabet are far apart.
Colour colour_of(std::size_t letter, char name) {
  if (name == '-') return kGap;
  const double hue = 6.0 * std::fmod(0.618034 * static_cast<double>(letter) + 0.02, 1.0);
  const double value = letter % 2 == 0 ? 205.0 : 150.0;
  const auto channel = [&](double offset) {
    const double place = std::fmod(hue + offset, 6.0);
    return value * (1.0 - 0.85 * std::clamp(std::min(place, 4.0 - place), 0.0, 1.0));
  };
  return {channel(5.0), channel(3.0), channel(1.0)};
}

double information_of(std::span<const double> frequencies) {
  double bits = std::log2(static_cast<double>(frequencies.size()));
  for (const double f : frequencies) bits += f > 0.0 ? f * std::log2(f) : 0.0;
  return std::max(bits, 0.0);
}

/// One site: its letters from the bottom up, the rarest first.
void draw_site(Canvas& canvas, std::size_t left, std::size_t bottom, std::span<const double> frequencies,
               std::string_view names) {
  const double most = std::log2(static_cast<double>(frequencies.size()));
  const double height = information_of(frequencies) / most * static_cast<double>(kLineHeight);
  std::vector<std::size_t> order(frequencies.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t a) { return frequencies[a]; });
  double done = 0.0;
  for (const std::size_t letter : order) {
    const auto from = static_cast<std::size_t>(std::lround(done));
    done += frequencies[letter] * height;
    const auto to = static_cast<std::size_t>(std::lround(done));
    if (to >= from + kLeastHeight) {
      canvas.stretch(names[letter], left + 1, bottom - to, kSiteWidth - 2, to - from, colour_of(letter, names[letter]));
    }
  }
}

/// Sites [first, last) of a logo on a line whose letters stand on `bottom`.
void draw_line(Canvas& canvas, const Logo& logo, std::size_t first, std::size_t last, std::size_t bottom,
               std::string_view names) {
  const double most = std::log2(static_cast<double>(names.size()));
  canvas.fill(kLeft - 2, bottom - kLineHeight, 1, kLineHeight + 1, kSoftInk);
  canvas.fill(kLeft - 2, bottom, (last - first) * kSiteWidth + 2, 1, kSoftInk);
  for (std::size_t bits = 0; static_cast<double>(bits) <= most; ++bits) {
    const std::size_t y =
        bottom -
        static_cast<std::size_t>(std::lround(static_cast<double>(bits) / most * static_cast<double>(kLineHeight)));
    canvas.fill(kLeft - 6, y, 4, 1, kSoftInk);
    const std::string label = fmt::format("{}", bits);
    canvas.write(kLeft - 9 - text_width(label), y - kTextHeight / 2, label);
  }
  canvas.write_up(4, bottom - kLineHeight / 2 + text_width("bits") / 2, "bits");
  for (std::size_t site = first; site < last; ++site) {
    const std::size_t left = kLeft + (site - first) * kSiteWidth;
    draw_site(canvas, left, bottom, logo.frequencies.row(site), names);
    if ((site + 1) % kNumberedSites != 0 && site != first) continue;
    const std::string label = fmt::format("{}", site + 1);
    canvas.write(left + kSiteWidth / 2 - std::min(text_width(label) / 2, left), bottom + 6, label);
  }
}

std::size_t lines_of(const Logo& logo) { return (logo.frequencies.rows() + kSitesInALine - 1) / kSitesInALine; }

}  // namespace

Image sequence_logos(std::span<const Logo> logos, std::string_view names) {
  std::size_t lines = 0, longest = 0;
  for (const Logo& logo : logos) {
    require(logo.frequencies.cols() == names.size() && names.size() > 1,
            fmt::format("a logo needs a name for each of {} letters, found {}", logo.frequencies.cols(), names.size()));
    lines += lines_of(logo);
    longest = std::max(longest, std::min(logo.frequencies.rows(), kSitesInALine));
  }
  const std::size_t line_height = kTop + kLineHeight + kBelow;
  Canvas canvas(std::max(kLeft + longest * kSiteWidth + kRight, std::size_t{160}), lines * line_height);
  std::size_t bottom = kTop + kLineHeight;
  for (const Logo& logo : logos) {
    canvas.write(kLeft, bottom - kLineHeight - kTop + 6, logo.title, kBlack);
    for (std::size_t first = 0; first < logo.frequencies.rows(); first += kSitesInALine, bottom += line_height) {
      draw_line(canvas, logo, first, std::min(first + kSitesInALine, logo.frequencies.rows()), bottom, names);
    }
  }
  return canvas.take();
}

}  // namespace ergodic
