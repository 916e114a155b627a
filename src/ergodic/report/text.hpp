// How the reports write things: numbers and durations for people, and text and bytes inside HTML.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ergodic {

/// A number to four significant digits; whole from a thousand to ten million, where an exponent would be harder to
/// read.
std::string short_number(double value);

/// Seconds as m:ss, or h:mm:ss from an hour on; "over 1000 h" where the digits would mean nothing.
std::string duration_text(double seconds);

/// One line that is safe on a terminal: each control character (so also a line end or an escape) becomes a space.
std::string one_line(std::string_view text);

/// The number of columns that UTF-8 text takes, each code point being one wide.
std::size_t columns_of(std::string_view text);

/// Text as content or quoted attribute of HTML and SVG: & < > " ' become entities.
std::string escape_html(std::string_view text);

/// RFC 4648, with padding.
std::string base64(std::span<const std::byte> bytes);

}  // namespace ergodic
