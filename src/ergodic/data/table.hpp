// Tables as people have them: which columns are units, which one is the label, and what words become.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ergodic/data/in_memory.hpp"
#include "ergodic/format/csv.hpp"

namespace ergodic {

/// Columns are named as in the header, or by number, counted from 1; several with commas between them.
struct TableOptions {
  std::string label_column{};          ///< becomes the labels; or empty
  std::string columns{};               ///< the only ones that are read; empty: all
  std::string drop{};                  ///< left out
  std::vector<std::string> units{};    ///< names of the units of a machine, which takes them from a header; or empty
  std::vector<std::string> classes{};  ///< names of the classes of a machine, whose places labels that are words get

  /// Whether the user has chosen columns.
  bool chosen() const { return !label_column.empty() || !columns.empty() || !drop.empty(); }
};

/// The units of a table as numbers, row by row.
struct UnitTable {
  std::size_t rows = 0;
  std::vector<double> numbers;  ///< rows x units; nan where a value is missing
  RowNotes notes;               ///< labels, names of units, and columns as messages name them
  std::vector<std::string> class_names;
  std::vector<std::string> warnings;
};

/// The most categories of a column of words.
inline constexpr std::size_t kMostCategories = 50;

/// - A column of numbers is a unit. One of True and False, yes and no, or t and f, in any case, is one of 1 and 0.
/// - A column of other words is a unit for each of them, in alphabetical order, of which one is 1: "town=Utrecht".
///   DataError if it has more than kMostCategories, or if units are letters.
/// - The first column, if it has no name or is named id or index, and counts 0, 1, 2, ... or 1, 2, 3, ..., is left out
///   with a warning, unless it is asked for.
/// - Labels that are words become 0, 1, ... in alphabetical order, with the words as names of the classes.
/// - A machine that knows the names of its units takes these, in its own order, and leaves all others out; its names
///   say which columns are words, also where only some of these are there, or none. A word that it has no unit or class
///   for is refused.
///
/// UsageError for a column that does not exist, DataError for one whose fields will not do; both begin with `where`.
UnitTable units_of(CsvTable table, const std::string& where, const TableOptions& options, ValueKind kind);

}  // namespace ergodic
