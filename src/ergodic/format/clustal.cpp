#include "ergodic/format/clustal.hpp"

#include <fmt/format.h>

#include "ergodic/core/error.hpp"
#include "ergodic/core/number_text.hpp"
#include "ergodic/format/bytes.hpp"
#include "ergodic/format/sequence_blocks.hpp"

namespace ergodic {

bool is_clustal(std::string_view text) { return text.starts_with("CLUSTAL") || text.starts_with("MUSCLE ("); }

std::vector<NamedSequence> parse_clustal(std::span<const std::byte> file, const std::string& where) {
  TextLines lines(as_text(file));
  SequenceBlocks blocks(where);
  while (lines.next() && words_of(lines.line()).empty()) continue;  // up to what the program says of itself
  while (lines.next()) {
    const std::string_view line = lines.line();
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty()) blocks.end_block();
    if (words.empty() || line.starts_with(' ') || line.starts_with('\t')) continue;
    if (words.size() < 2 || words.size() > 3 || (words.size() == 3 && !number_in<std::size_t>(words[2]))) {
      throw DataError(fmt::format("{}: line {}: expected a name, a sequence and perhaps a number, found {}", where,
                                  lines.number(), excerpt(line)));
    }
    blocks.add(words[0], words[1], lines.number());
  }
  return blocks.take();
}

}  // namespace ergodic
