// Masks: which values of rows are hidden, or kept, as options name them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "ergodic/core/bits.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/model/layer.hpp"

namespace ergodic {

/// What --mask takes, for help.
inline constexpr char kMaskHelp[] =
    "values to hide: left, right, upper or lower half of a picture, box:X,Y,W,H (from the left and the top, counted "
    "from 0), random:P (each value of each row with this probability), or a file of 0 and 1, where 1 is hidden: one "
    "for each value, for all rows or for each";

/// The values that a text hides, a bit for each unit: one row for all, or a row for each. UsageError for a text that
/// is none of these, and for halves and boxes of rows that are no pictures; DataError for a file of another size.
Bits mask_from(const std::string& text, const Layer& visible, PictureShape shape, std::size_t rows, Key key);

/// A file of 0 and 1 for each site, in any shape: for all rows, or for each of so many.
Bits read_mask(const std::filesystem::path& path, const Layer& visible, std::size_t rows);

/// Which values are known, a row for each: those that were, but for hidden ones.
Bits known_without(const Dataset& data, const Bits& hidden);

}  // namespace ergodic
