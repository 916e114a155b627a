// From rows of numbers to a Dataset: bits, grey levels, letters, or the numbers as they are. NaN is a missing value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "ergodic/data/dataset.hpp"
#include "ergodic/data/in_memory.hpp"

namespace ergodic {

/// What a data set is, and how its numbers are read.
struct RowsOf {
  std::string name;
  PictureShape shape;
  std::size_t rows = 0, units = 0;
  std::function<void(std::size_t row, std::span<double> out)> read{};
  std::span<const std::string> columns{};  ///< as in RowNotes
};

/// Keeps the numbers as they are.
Dataset keep_real(const RowsOf& what);

/// Whole numbers from 0 up as letters, one-hot: so many letters, or as many as the data has if that is 0.
Dataset pack_letters(const RowsOf& what, std::size_t letters);
/// Rows with a number in [0, 1] for each of so many letters of each site, which add up to 1: each site becomes its most
/// probable letter, the first of equals.
Dataset pack_probabilities(const RowsOf& what, std::size_t letters);

/// Numbers in [0, 1] become bits, by threshold or by a fixed draw, or are kept as grey levels.
Dataset pack_bits(const RowsOf& what, const ValueOptions& options, std::uint8_t stream);

/// Whichever of these the options ask for.
Dataset pack(const RowsOf& what, const ValueOptions& options, std::uint8_t stream);

}  // namespace ergodic
