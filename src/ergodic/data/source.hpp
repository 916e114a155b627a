// From what a user writes after --data to data sets: a name, or a file in any format that we read.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "ergodic/data/dataset.hpp"

namespace ergodic {

/// What a machine makes of values.
enum class ValueKind {
  kBits,     ///< on or off
  kReal,     ///< any finite numbers, as they are
  kLetters,  ///< whole numbers from 0 up, each a letter, or sequences of letters
};

struct DataOptions {
  std::string source;            ///< a path, or a name such as "mnist" or "bars-and-stripes:4"
  std::filesystem::path labels;  ///< a file of one label for each row, or empty
  Binarise binarise = Binarise::kThreshold;
  double threshold = 0.5;
  double test_share = 0.0;  ///< share of a set without a test part of its own that becomes one
  double identity = 0.8;    ///< share of equal sites from which on aligned sequences share their weight; 0: no weights
  ValueKind kind = ValueKind::kBits;
  bool missing = false;  ///< nan is a missing value; of letters -1 too, in sequences "?", in text "NA", "?" or nothing
  std::size_t letters = 0;  ///< how many there are, if values are letters; 0: as many as the data has
};

struct DataParts {
  Dataset train;
  Dataset test;  ///< no rows if the set has no test part
};

/// Reads or makes the data. DataError names file, row and column of a value that is not in [0, 1], or not finite where
/// real numbers are wanted, or missing unless that is allowed; a named set that is not on this machine gives
/// NoInputError with the command that brings it. Weights are those in the whole set, whichever part a row then belongs
/// to.
DataParts load_data(const DataOptions& options);

}  // namespace ergodic
