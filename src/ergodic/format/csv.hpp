// CSV: a table of numbers as text (after RFC 4180, but only numbers, and with the habits of numpy.savetxt and R).
//
// Separated by semicolons, tabs, commas or blanks: the first of these that the first line has. That line is a header,
// and skipped, if none of its fields is a number. Skipped too: blank lines, and lines that begin
// with "#". Numbers may stand in double quotes, decimals have a point, whatever the locale; "nan" and "inf" are
// numbers. Where missing values are allowed, "NA", "?" and an empty field are read as
// nan.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "ergodic/format/array.hpp"

namespace ergodic {

/// A float64 array, rows x columns. Every row must have as many fields as the first line. `where` names the file in
/// messages.
Array parse_csv(std::span<const std::byte> file, const std::string& where, Missing missing = Missing::kRefused);

/// Fields separated by commas, a line for each row; a field with a comma, a quote or a line break is quoted.
void write_csv(const std::filesystem::path& path, const std::vector<std::vector<std::string>>& lines);

}  // namespace ergodic
