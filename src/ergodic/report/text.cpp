#include "ergodic/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ergodic {

std::string short_number(double value) {
  const double size = std::abs(value);
  return size >= 1000.0 && size < 1e7 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

std::string duration_text(double seconds) {
  if (!(seconds < 3600.0 * 1000.0)) return "over 1000 h";
  const auto whole = static_cast<std::int64_t>(std::max(0.0, std::round(seconds)));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string one_line(std::string_view text) {
  std::string line(text);
  unsigned char before = 0;
  for (char& c : line) {
    const auto code = static_cast<unsigned char>(c);
    const bool second_set = before == 0xC2 && code >= 0x80 && code < 0xA0;  // U+0080 to U+009F in UTF-8
    if (code < 0x20 || code == 0x7F) c = ' ';
    if (second_set) (&c)[-1] = c = ' ';
    before = code;
  }
  return line;
}

std::size_t columns_of(std::string_view text) {
  const auto starts_code_point = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::string escape_html(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string base64(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;  // up to three bytes, from the top of 24 bits
    for (std::size_t k = 0; k < count; ++k) group |= std::to_integer<std::uint32_t>(bytes[i + k]) << (16 - 8 * k);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? kDigits[(group >> (18 - 6 * k)) & 63u] : '=';
  }
  return text;
}

}  // namespace ergodic
