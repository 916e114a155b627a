// Times as people write them: 90, 60s, 5m, 1h30m.
#pragma once

#include <cmath>
#include <optional>
#include <string_view>

#include "ergodic/core/number_text.hpp"

namespace ergodic {

/// The seconds of a duration: a plain number of them, or numbers of hours, minutes and seconds in this order, each with
/// its letter; nothing if the text is none, or not above zero.
inline std::optional<double> seconds_in(std::string_view text) {
  constexpr std::string_view kLetters = "hms";
  constexpr double kSeconds[] = {3600.0, 60.0, 1.0};
  double sum = 0.0;
  if (const auto plain = number_in<double>(text)) {
    sum = *plain;
    text = {};
  }
  std::size_t least = 0;  // the first letter that may still come
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(kLetters);
    if (end == std::string_view::npos) return std::nullopt;
    const auto number = number_in<double>(text.substr(0, end));
    const std::size_t letter = kLetters.find(text[end]);
    if (!number || *number < 0.0 || letter < least) return std::nullopt;
    sum += *number * kSeconds[letter];
    least = letter + 1;
    text.remove_prefix(end + 1);
  }
  return std::isfinite(sum) && sum > 0.0 ? std::optional(sum) : std::nullopt;
}

}  // namespace ergodic
