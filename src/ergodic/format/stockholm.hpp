// Stockholm: aligned sequences as text (Pfam, Rfam, HMMER).
//
//   # STOCKHOLM 1.0
//   name/1-4   LETTERS
//   //
//
// Lines that begin with "#" are annotation, and skipped. A name that comes again, in a further block, goes on with its
// sequence. What follows the first "//" is another alignment, and refused.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ergodic/format/fasta.hpp"

namespace ergodic {

bool is_stockholm(std::string_view text);

/// All sequences in the order of their first lines, at least one. `where` names the file in messages.
std::vector<NamedSequence> parse_stockholm(std::span<const std::byte> file, const std::string& where);

}  // namespace ergodic
