// Numbers written as text.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace ergodic {

/// The number that the whole text is, whatever the locale; nothing if it is none, has more in it, or is out of range.
template <class T>
std::optional<T> number_in(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

/// The whole number that the text is, not negative; also one such as 1e3, if it is exact as a double.
inline std::optional<std::uint64_t> whole_number_in(std::string_view text) {
  if (const auto count = number_in<std::uint64_t>(text)) return count;
  const auto number = number_in<double>(text);
  const bool whole = number && *number >= 0.0 && *number <= 0x1p53 && std::floor(*number) == *number;
  return whole ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

}  // namespace ergodic
