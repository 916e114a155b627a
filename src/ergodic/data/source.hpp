// From what a user writes after --data to data sets: a name, or a file in any format that we read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/data/catalogue.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/data/in_memory.hpp"
#include "ergodic/data/table.hpp"

namespace ergodic {

struct DataOptions : ValueOptions {
  std::string source{};            ///< a path, or a name such as "mnist" or "bars-and-stripes:4"
  std::filesystem::path labels{};  ///< a file of one label for each row, or empty
  double test_share = 0.0;         ///< share of a set without a test part of its own that becomes one
  double identity = 0.8;  ///< share of equal sites from which on aligned sequences share their weight; 0: no weights
  std::string array{};    ///< the array of an npz file to read; or empty
  TableOptions table{};   ///< which columns of a table to read
  bool one_row = false;   ///< an array of one dimension is a row, and not refused
  std::filesystem::path weights{};  ///< a file of one weight for each row, in place of those by identity; or empty
};

struct DataParts {
  Dataset train;
  Dataset test;                         ///< no rows if the set has no test part
  std::vector<std::string> warnings{};  ///< what is odd about the data, in sentences
};

/// Reads or makes the data. DataError names file, row and column of a value that is not in [0, 1], or not finite where
/// real numbers are wanted, or missing unless that is allowed; a named set that is not on this machine gives
/// NoInputError with the command that brings it. Weights are those in the whole set, whichever part a row then belongs
/// to; of a set that has a test part of its own, those of the others. Stopped is thrown if the observer asks to stop.
DataParts load_data(const DataOptions& options, const Context& context = {});
/// The same for an entry that need not be in the catalogue, whose name the source then is.
DataParts load_fetched(const CatalogueEntry& entry, const DataOptions& options, const Context& context = {});

}  // namespace ergodic
