// What a classifier takes for what, to look at: the confusion of its classes, and its worst mistakes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ergodic/core/matrix.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/format/png.hpp"

namespace ergodic {

/// How often each class was taken for each other: darker for more, on the scale of its row.
Image picture_of_confusion(const Matrix<std::uint64_t>& confusion,
                           const std::function<std::string(std::size_t label)>& name_of);

/// Rows that were taken for another class, the surest mistakes first; no more than so many.
std::vector<std::uint32_t> worst_rows(const Matrix<float>& probabilities, std::span<const int> labels,
                                      std::size_t most);

/// The chosen rows as a classifier sees them.
Image picture_of_inputs(const Dataset& data, std::span<const std::uint32_t> rows);

}  // namespace ergodic
