// What formats of interleaved sequences share: a line has a name and a piece of its sequence, and blank lines stand
// between blocks of lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ergodic/format/fasta.hpp"

namespace ergodic {

/// Puts pieces of sequences together by their names.
class SequenceBlocks {
 public:
  explicit SequenceBlocks(const std::string& where) : where_(where) {}

  /// DataError that names the line for a character that is not printable, and for a name that the block has already.
  void add(std::string_view name, std::string_view letters, std::size_t line);
  void end_block() { ++block_; }
  /// DataError if there are no sequences.
  std::vector<NamedSequence> take();

 private:
  struct Place {
    std::size_t sequence, block;  ///< its number, and the last block that had a piece of it
  };

  const std::string& where_;
  std::vector<NamedSequence> sequences_;
  std::unordered_map<std::string, Place> places_;
  std::size_t block_ = 0;
};

}  // namespace ergodic
