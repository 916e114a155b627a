#include "ergodic/format/utf8.hpp"

#include <algorithm>

namespace ergodic {

std::size_t utf8_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length == 0 || first > 0xf4 || text.size() < length) return 0;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  if (!std::ranges::all_of(text.substr(1, length - 1), continues)) return 0;
  const unsigned second = length > 1 ? static_cast<unsigned char>(text[1]) : 0;
  const bool longer_than_needed = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool no_character = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  return longer_than_needed || no_character ? 0 : length;
}

std::string utf8_from(const std::string& text) {
  std::size_t valid = 0;
  while (valid < text.size()) {
    const std::size_t length = utf8_length(std::string_view(text).substr(valid));
    if (length == 0) break;
    valid += length;
  }
  if (valid == text.size()) return text;
  std::string out;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x80) out += static_cast<char>(0xc0 | (code >> 6));
    out += static_cast<char>(code >= 0x80 ? 0x80 | (code & 0x3f) : code);
  }
  return out;
}

}  // namespace ergodic
