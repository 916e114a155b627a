// Clustal: aligned sequences as text, in blocks (Higgins and Sharp, CLUSTAL, 1988).
//
//   CLUSTAL and whatever else this line says
//
//   name   LETTERS   how many there are up to here, if the program says so
//   other  LETTERS
//          ** .: *   how alike the column is
//
// A name that comes again, in a further block, goes on with its sequence. Lines that begin with a blank are skipped.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ergodic/format/fasta.hpp"

namespace ergodic {

bool is_clustal(std::string_view text);

/// All sequences in the order of their first lines, at least one. `where` names the file in messages.
std::vector<NamedSequence> parse_clustal(std::span<const std::byte> file, const std::string& where);

}  // namespace ergodic
