// CSV: a table as text (after RFC 4180, with the habits of numpy.savetxt, pandas and R). A column has numbers or words.
//
// Separated by semicolons, tabs, commas or blanks: the first of these that the first line has. That line is a header if
// none of its fields is a number, and not all of them are words for true and false; or if they are 0, 1, 2, ..., as
// pandas names columns without names: at least 8 of them, or 3 after an empty field. Skipped: blank lines, and lines
// that begin with "#". Fields may stand in double quotes, with "" for a quote, but not go over several lines; decimals
// have a point, whatever the locale; "nan" and "inf" are numbers. "NA", "?" and an empty field are missing values.
// Names and words are UTF-8, or else taken for Windows-1252, with Latin-1 in it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ergodic/format/array.hpp"

namespace ergodic {

/// The most columns of a table: a line of more is rather a file without line ends than rows for a machine.
inline constexpr std::size_t kMostCsvColumns = 1'000'000;

struct CsvColumn {
  std::string name{};                ///< from the header; empty without one
  std::vector<std::string> words{};  ///< of a column of words, in alphabetical order; its numbers are places in here
  std::size_t line = 0;              ///< of its first word; 0 for a column of numbers
  std::string problem{};             ///< why the column cannot be read, with the line; empty if it can
};

struct CsvTable {
  bool header = false;
  std::vector<CsvColumn> columns{};
  std::size_t rows = 0;
  std::vector<double> numbers{};  ///< rows x columns; nan where a value is missing
};

/// Every row must have as many fields as the first line, and no field a control character. Missing values that are not
/// allowed, and fields that do not fit their column, are noted as the column's problem: it may not be wanted. `where`
/// names the file in messages.
CsvTable parse_csv(std::span<const std::byte> file, const std::string& where, Missing missing = Missing::kRefused);

/// A float64 array of a table that must have numbers only; DataError that begins with `where` otherwise.
Array numbers_of(const CsvTable& table, const std::string& where);

/// Whether a field is one of the ways to write that a value is missing, beside nan.
bool stands_for_missing(std::string_view field);
/// What a word says, in any case: true, yes and t, or false, no and f.
std::optional<bool> truth_of(std::string_view word);

/// A name in messages, cut if it is long.
std::string name_text(const std::string& name);
/// A column in messages: "3", counted from 1, or "3 (age)" if it has a name.
std::string column_text(std::size_t column, const std::string& name);

/// Fields separated by commas, a line for each row; a field with a comma, a quote or a line break is quoted.
void write_csv(const std::filesystem::path& path, const std::vector<std::vector<std::string>>& lines);

}  // namespace ergodic
