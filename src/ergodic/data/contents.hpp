// What a data file holds, whatever its format: an array, a table, or aligned sequences.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ergodic/format/array.hpp"
#include "ergodic/format/csv.hpp"
#include "ergodic/format/fasta.hpp"

namespace ergodic {

struct LabelledArray {
  Array values;
  std::optional<Array> labels;
};

using Contents = std::variant<LabelledArray, CsvTable, std::vector<NamedSequence>>;

/// What the bytes of a file hold; `where` names it in messages. The format is told by the first bytes. `array` names
/// the array of an npz file to read, or is empty. DataError for a format that is known but not read says what it is and
/// what to do.
Contents contents_of(std::span<const std::byte> file, const std::string& where, const std::string& array,
                     Missing missing);

/// Reads a file, or a folder of PNG pictures of one size, in the order of their names.
Contents read_contents(const std::filesystem::path& path, const std::string& array, Missing missing);

}  // namespace ergodic
