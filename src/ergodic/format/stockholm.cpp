#include "ergodic/format/stockholm.hpp"

#include <fmt/format.h>

#include "ergodic/core/error.hpp"
#include "ergodic/format/bytes.hpp"
#include "ergodic/format/sequence_blocks.hpp"

namespace ergodic {

bool is_stockholm(std::string_view text) { return text.starts_with("# STOCKHOLM"); }

std::vector<NamedSequence> parse_stockholm(std::span<const std::byte> file, const std::string& where) {
  TextLines lines(as_text(file));
  SequenceBlocks blocks(where);
  bool ended = false;
  while (lines.next()) {
    const std::vector<std::string_view> words = words_of(lines.line());
    if (words.empty()) {
      blocks.end_block();
      continue;
    }
    if (ended) {
      throw DataError(
          fmt::format("{}: line {}: expected the end after \"//\", found {}; give each alignment its own file", where,
                      lines.number(), excerpt(lines.line())));
    }
    ended = words[0] == "//";
    if (ended || words[0].starts_with('#')) continue;
    if (words.size() != 2) {
      throw DataError(fmt::format("{}: line {}: expected a name and a sequence, found {} words", where, lines.number(),
                                  words.size()));
    }
    blocks.add(words[0], words[1], lines.number());
  }
  return blocks.take();
}

}  // namespace ergodic
