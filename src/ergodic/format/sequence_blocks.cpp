#include "ergodic/format/sequence_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/format/bytes.hpp"

namespace ergodic {

bool TextLines::next() {
  if (rest_.empty()) return false;
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  line_ = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  ++number_;
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  return true;
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBlanks = " \t";
  std::vector<std::string_view> out;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    if (line.empty()) return out;
    out.push_back(line.substr(0, std::min(line.find_first_of(kBlanks), line.size())));
    line.remove_prefix(out.back().size());
  }
}

void SequenceBlocks::add(std::string_view name, std::string_view letters, std::size_t line) {
  for (std::size_t k = 0; k < letters.size(); ++k) {
    if (letters[k] > ' ' && letters[k] <= '~') continue;
    throw DataError(fmt::format("{}: line {}: letter {} of the sequence: expected a printable one, found {}", where_,
                                line, k + 1, excerpt(letters.substr(k, 1))));
  }
  const auto [place, is_new] = places_.try_emplace(std::string(name), sequences_.size());
  if (is_new) sequences_.push_back({std::string(name), ""});
  sequences_[place->second].letters += letters;
}

std::vector<NamedSequence> SequenceBlocks::take() {
  if (sequences_.empty()) throw DataError(fmt::format("{}: expected aligned sequences, found none", where_));
  return std::move(sequences_);
}

}  // namespace ergodic
