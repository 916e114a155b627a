// UTF-8 (RFC 3629): names in files that other programs wrote.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ergodic {

/// How many bytes the first character of a text has, which is not empty; 0 if it is not UTF-8.
std::size_t utf8_length(std::string_view text);

/// The text, if it is UTF-8; else it is taken for Windows-1252 (Latin-1 with a few more characters), as spreadsheets
/// still write it.
std::string utf8_from(const std::string& text);

/// Those of ASCII, and those from U+0080 to U+009F in UTF-8: a terminal may take either for commands.
bool has_control_characters(std::string_view text);

}  // namespace ergodic
