// Numbers written as text.
#pragma once

#include <charconv>
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

}  // namespace ergodic
