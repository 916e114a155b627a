// Sequence logos (Schneider and Stephens 1990): what letters stand at each site of aligned sequences. A site is as high
// as it is informative, log2 of the number of letters minus the entropy, in bits; its letters share that height by
// frequency, the most frequent on top.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ergodic/core/matrix.hpp"
#include "ergodic/format/png.hpp"

namespace ergodic {

/// The sites of one set of sequences: a row for each site, a column for each letter, the rows summing to one.
struct Logo {
  std::string title;
  Matrix<double> frequencies;
};

/// Logos below each other, in lines of sixty sites, which are counted from 1. `names` has a character for each letter.
Image sequence_logos(std::span<const Logo> logos, std::string_view names);

}  // namespace ergodic
