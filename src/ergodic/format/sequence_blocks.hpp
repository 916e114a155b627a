// What formats of interleaved sequences share: a line has a name and a piece of its sequence.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ergodic/format/fasta.hpp"

namespace ergodic {

/// Gives the lines of a text one after the other, without their ends.
class TextLines {
 public:
  explicit TextLines(std::string_view text) : rest_(text) {}

  bool next();
  std::string_view line() const { return line_; }
  std::size_t number() const { return number_; }  ///< counted from 1

 private:
  std::string_view rest_, line_;
  std::size_t number_ = 0;
};

/// The words of a line, between blanks and tabs.
std::vector<std::string_view> words_of(std::string_view line);

/// Puts pieces of sequences together by their names.
class SequenceBlocks {
 public:
  explicit SequenceBlocks(const std::string& where) : where_(where) {}

  /// DataError that names the line for a character that is not printable.
  void add(std::string_view name, std::string_view letters, std::size_t line);
  /// DataError if there are no sequences.
  std::vector<NamedSequence> take();

 private:
  const std::string& where_;
  std::vector<NamedSequence> sequences_;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace ergodic
