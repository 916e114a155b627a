#include "ergodic/report/sheet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

constexpr std::uint8_t kGapGrey = 72;       // apart from black and from white
constexpr std::size_t kLegiblePixels = 56;  // the larger side of a tile; MNIST doubled
constexpr std::size_t kVisiblePixels = 4;   // the smaller side
constexpr double kRobustQuantile = 0.995;

using Colour = std::array<std::uint8_t, 3>;

// The diverging map "RdBu" of ColorBrewer (Harrower and Brewer, 2003): lightness falls evenly to both sides.
constexpr std::array<Colour, 5> kDiverging = {Colour{5, 48, 97}, Colour{67, 147, 195}, Colour{247, 247, 247},
                                              Colour{214, 96, 77}, Colour{103, 0, 31}};
constexpr Colour kNotFinite = {0, 200, 0};

std::size_t divided_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

// Where everything lies, in pixels. A cell holds `parts` tiles side by side.
struct Layout {
  std::size_t tile_height, tile_width;
  std::size_t scale;
  std::size_t parts;
  std::size_t inner_gap, outer_gap;
  std::size_t columns = 1, rows = 1;

  std::size_t cell_height() const { return scale * tile_height; }
  std::size_t cell_width() const { return parts * scale * tile_width + (parts - 1) * inner_gap; }
  std::size_t height() const { return outer_gap + rows * (cell_height() + outer_gap); }
  std::size_t width() const { return outer_gap + columns * (cell_width() + outer_gap); }
  std::size_t top(std::size_t cell) const { return outer_gap + cell / columns * (cell_height() + outer_gap); }
  std::size_t left(std::size_t cell, std::size_t part) const {
    return outer_gap + cell % columns * (cell_width() + outer_gap) + part * (scale * tile_width + inner_gap);
  }
};

void check(MatrixView<const float> tiles, const SheetOptions& options) {
  const std::size_t places = options.tile_height * options.tile_width;
  require(places > 0, fmt::format("a tile needs a height and a width, but they are {} x {}", options.tile_height,
                                  options.tile_width));
  require(tiles.rows() > 0, "a sheet needs at least one tile");
  require(tiles.cols() <= places, fmt::format("tiles of {} x {} have {} places, but the rows have {} values",
                                              options.tile_height, options.tile_width, places, tiles.cols()));
}

std::size_t automatic_scale(std::size_t height, std::size_t width) {
  return std::max(divided_up(kLegiblePixels, std::max(height, width)),
                  divided_up(kVisiblePixels, std::min(height, width)));
}

Layout layout_for(std::size_t cells, std::size_t parts, const SheetOptions& options) {
  const std::size_t scale =
      options.scale > 0 ? options.scale : automatic_scale(options.tile_height, options.tile_width);
  const std::size_t outer_gap = parts > 1 ? 3 * options.gap : options.gap;
  Layout layout{options.tile_height, options.tile_width, scale, parts, options.gap, outer_gap};
  const auto height = static_cast<double>(layout.cell_height() + outer_gap);
  const auto width = static_cast<double>(layout.cell_width() + outer_gap);
  const auto square = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(cells) * height / width)));
  layout.columns = std::clamp<std::size_t>(options.columns > 0 ? options.columns : square, 1, cells);
  layout.rows = divided_up(cells, layout.columns);
  return layout;
}

Image blank(const Layout& layout, std::size_t channels) {
  Image image{layout.width(), layout.height(), channels, {}};
  image.pixels.assign(image.width * image.height * channels, kGapGrey);
  return image;
}

// Draws one tile, `colour_of(value)` giving as many bytes as the image has channels.
template <class ColourOf>
void draw_tile(Image& image, const Layout& layout, std::size_t cell, std::size_t part, std::span<const float> tile,
               const ColourOf& colour_of) {
  for (std::size_t i = 0; i < tile.size(); ++i) {
    const auto colour = colour_of(tile[i]);
    const std::size_t top = layout.top(cell) + i / layout.tile_width * layout.scale;
    const std::size_t left = layout.left(cell, part) + i % layout.tile_width * layout.scale;
    for (std::size_t y = top; y < top + layout.scale; ++y) {
      std::uint8_t* pixel = &image.pixels[(y * image.width + left) * image.channels];
      for (std::size_t x = 0; x < layout.scale; ++x) pixel = std::copy(colour.begin(), colour.end(), pixel);
    }
  }
}

std::uint8_t byte_of(double value) { return static_cast<std::uint8_t>(std::lround(value)); }

std::array<std::uint8_t, 1> grey_of(float value) {
  return {byte_of(value > 0.0f ? 255.0 * std::min(value, 1.0f) : 0.0)};
}

// The colour of a value in [-1, 1].
Colour diverging(double value) {
  const double place = (std::clamp(value, -1.0, 1.0) + 1.0) * 0.5 * static_cast<double>(kDiverging.size() - 1);
  const std::size_t below = std::min(static_cast<std::size_t>(place), kDiverging.size() - 2);
  const double part = place - static_cast<double>(below);
  Colour colour{};
  for (std::size_t c = 0; c < colour.size(); ++c) {
    colour[c] = byte_of((1.0 - part) * kDiverging[below][c] + part * kDiverging[below + 1][c]);
  }
  return colour;
}

// The 99.5 % quantile of |w|, or the largest where that is zero (a filter with few weights), or 1 for a dead filter.
double robust_size(std::span<const float> tile) {
  std::vector<double> sizes;
  for (const float w : tile) {
    if (std::isfinite(w)) sizes.push_back(std::abs(static_cast<double>(w)));
  }
  if (sizes.empty()) return 1.0;
  std::sort(sizes.begin(), sizes.end());
  const double quantile =
      sizes[static_cast<std::size_t>(std::ceil(kRobustQuantile * static_cast<double>(sizes.size() - 1)))];
  if (quantile > 0.0) return quantile;
  return sizes.back() > 0.0 ? sizes.back() : 1.0;
}

}  // namespace

Image grey_sheet(MatrixView<const float> tiles, const SheetOptions& options) {
  check(tiles, options);
  const Layout layout = layout_for(tiles.rows(), 1, options);
  Image image = blank(layout, 1);
  for (std::size_t r = 0; r < tiles.rows(); ++r) draw_tile(image, layout, r, 0, tiles.row(r), grey_of);
  return image;
}

Image signed_sheet(MatrixView<const float> tiles, const SheetOptions& options) {
  check(tiles, options);
  const Layout layout = layout_for(tiles.rows(), 1, options);
  Image image = blank(layout, 3);
  for (std::size_t r = 0; r < tiles.rows(); ++r) {
    const double size = robust_size(tiles.row(r));
    const auto colour_of = [&](float w) { return std::isfinite(w) ? diverging(w / size) : kNotFinite; };
    draw_tile(image, layout, r, 0, tiles.row(r), colour_of);
  }
  return image;
}

Image paired_sheet(MatrixView<const float> left, MatrixView<const float> right, const SheetOptions& options) {
  return grouped_sheet(std::array{left, right}, options);
}

Image grouped_sheet(std::span<const MatrixView<const float>> columns, const SheetOptions& options) {
  require(!columns.empty(), "a sheet of groups needs at least one column of tiles");
  const std::size_t cells = columns[0].rows();
  for (const MatrixView<const float>& tiles : columns) {
    check(tiles, options);
    require(tiles.rows() == cells, fmt::format("a sheet of groups needs as many tiles in each column, but there are {} "
                                               "and {}",
                                               cells, tiles.rows()));
  }
  const Layout layout = layout_for(cells, columns.size(), options);
  Image image = blank(layout, 1);
  for (std::size_t r = 0; r < cells; ++r) {
    for (std::size_t part = 0; part < columns.size(); ++part) {
      draw_tile(image, layout, r, part, columns[part].row(r), grey_of);
    }
  }
  return image;
}

std::pair<std::size_t, std::size_t> tile_shape_for(std::size_t units) {
  require(units > 0, "a tile needs at least one unit");
  const auto root = static_cast<std::size_t>(std::sqrt(static_cast<double>(units)));
  std::size_t height = root;
  while (units % height != 0) --height;
  if (units / height <= 3 * height) return {height, units / height};
  const std::size_t width = root + 1;  // not a perfect square: those were factored above
  return {divided_up(units, width), width};
}

Image magnified(const Image& image, std::size_t times) {
  Image out{times * image.width, times * image.height, image.channels, {}};
  out.pixels.reserve(out.width * out.height * out.channels);
  for (std::size_t y = 0; y < out.height; ++y) {
    for (std::size_t x = 0; x < out.width; ++x) {
      const std::uint8_t* pixel = &image.pixels[(y / times * image.width + x / times) * image.channels];
      out.pixels.insert(out.pixels.end(), pixel, pixel + image.channels);
    }
  }
  return out;
}

}  // namespace ergodic
