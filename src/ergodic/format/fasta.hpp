// FASTA: named sequences of letters as text (Pearson and Lipman, "Improved tools for biological sequence comparison",
// 1988).
//
//   >a name, and whatever else this line says
//   LETTERS, WHICH MAY
//   GO ON OVER SEVERAL LINES
//
// Lines end with LF or CRLF. Blank lines are skipped, and so are blanks at the end of a line. Which letters there may
// be, and whether sequences have to be of one length, is not the format's to say: here any printable ASCII will do.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace ergodic {

struct NamedSequence {
  std::string name;     ///< the header without its ">"; may be empty
  std::string letters;  ///< never empty
};

/// All sequences in the order of the file, at least one. `where` names the file in messages.
std::vector<NamedSequence> parse_fasta(std::span<const std::byte> file, const std::string& where);

/// A line of letters under each name.
void write_fasta(const std::filesystem::path& path, std::span<const NamedSequence> sequences);

}  // namespace ergodic
