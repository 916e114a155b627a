#include "ergodic/format/utf8.hpp"

#include <algorithm>
#include <array>

namespace ergodic {
namespace {

/// The character of a byte: that of Latin-1, but for 0x80 to 0x9f, where Latin-1 has control characters.
unsigned from_windows_1252(unsigned char byte) {
  constexpr unsigned kNone = 0xfffd;  // the character that stands for none
  constexpr std::array<unsigned, 32> kOthers = {0x20ac, kNone,  0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
                                                0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, kNone,  0x017d, kNone,
                                                kNone,  0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                                0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, kNone,  0x017e, 0x0178};
  return byte >= 0x80 && byte < 0xa0 ? kOthers[byte - 0x80] : byte;
}

/// Appends a character below 0x10000.
void append_utf8(std::string& text, unsigned character) {
  if (character < 0x80) {
    text += static_cast<char>(character);
    return;
  }
  if (character < 0x800) {
    text += static_cast<char>(0xc0 | (character >> 6));
  } else {
    text += static_cast<char>(0xe0 | (character >> 12));
    text += static_cast<char>(0x80 | (character >> 6 & 0x3f));
  }
  text += static_cast<char>(0x80 | (character & 0x3f));
}

}  // namespace

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
  for (const char c : text) append_utf8(out, from_windows_1252(static_cast<unsigned char>(c)));
  return out;
}

bool has_control_characters(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto code = static_cast<unsigned char>(text[i]);
    const unsigned next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    if (code < 0x20 || code == 0x7f || (code == 0xc2 && next >= 0x80 && next < 0xa0)) return true;
  }
  return false;
}

}  // namespace ergodic
