#include "ergodic/format/sequence_blocks.hpp"

#include <fmt/format.h>

#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/format/bytes.hpp"

namespace ergodic {

void SequenceBlocks::add(std::string_view name, std::string_view letters, std::size_t line) {
  for (std::size_t k = 0; k < letters.size(); ++k) {
    if (letters[k] > ' ' && letters[k] <= '~') continue;
    throw DataError(fmt::format("{}: line {}: letter {} of the sequence: expected a printable one, found {}", where_,
                                line, k + 1, excerpt(letters.substr(k, 1))));
  }
  const auto [found, is_new] = places_.try_emplace(std::string(name), Place{sequences_.size(), block_});
  Place& place = found->second;
  if (is_new) {
    sequences_.push_back({std::string(name), ""});
  } else if (place.block == block_) {
    throw DataError(fmt::format("{}: line {}: the name {} is there twice; give each sequence its own", where_, line,
                                excerpt(name)));
  }
  place.block = block_;
  sequences_[place.sequence].letters += letters;
}

std::vector<NamedSequence> SequenceBlocks::take() {
  if (sequences_.empty()) throw DataError(fmt::format("{}: expected aligned sequences, found none", where_));
  return std::move(sequences_);
}

}  // namespace ergodic
