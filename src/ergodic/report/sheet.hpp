// Sheets: many small images on one, as one looks at data, samples, reconstructions and filters.
//
// A row of the matrix is one tile, row-major, tile_height x tile_width. A tile may have more places than the row has
// values: the rest keeps the colour of the gap, as do cells without a tile. A sheet has a gap around every cell, also
// at its border:
//
//     width  = gap + columns * (scale * tile_width  + gap)
//     height = gap + rows    * (scale * tile_height + gap)
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "ergodic/core/matrix.hpp"
#include "ergodic/format/png.hpp"

namespace ergodic {

struct SheetOptions {
  std::size_t tile_height = 0;
  std::size_t tile_width = 0;
  std::size_t columns = 0;  ///< cells side by side; 0: as many as make the sheet nearly square
  std::size_t scale = 0;    ///< pixels for each value, both ways; 0: the fewest that make a tile about 56 pixels large
  std::size_t gap = 2;      ///< pixels between cells
};

/// Values in [0, 1] from black to white, as MNIST is drawn; values beyond are clipped, NaN is black. Grey.
Image grey_sheet(MatrixView<const float> tiles, const SheetOptions& options);

/// Filters: blue below zero, white at zero, red above. Each tile has its own scale, symmetric about zero, which ends at
/// the 99.5 % quantile of |w| so that one stray weight does not hide the others. NaN and infinity are green. RGB.
Image signed_sheet(MatrixView<const float> tiles, const SheetOptions& options);

/// Each left tile with its right one beside it (data, reconstruction), grey as in grey_sheet. A cell is a pair, with
/// one gap inside and three between the pairs and at the border; `columns` counts pairs.
Image paired_sheet(MatrixView<const float> left, MatrixView<const float> right, const SheetOptions& options);

/// Groups of any size, grey as in grey_sheet: tile r of each column side by side in one cell (original, damaged,
/// restored).
Image grouped_sheet(std::span<const MatrixView<const float>> columns, const SheetOptions& options);

/// A height and width for tiles of data that are no images. The exact factorisation nearest to a square if it is at
/// most three times as wide as high (784: 28 x 28, 12: 3 x 4), else the nearly square rectangle that is large enough
/// (13: 4 x 4, three places of padding).
std::pair<std::size_t, std::size_t> tile_shape_for(std::size_t units);

/// Each pixel as a square of so many.
Image magnified(const Image& image, std::size_t times);

}  // namespace ergodic
