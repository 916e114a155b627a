#include "ergodic/core/spelling.hpp"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

namespace ergodic {
namespace {

constexpr std::size_t kShortestBeginning = 3;  // that says enough of a name

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

bool begins_with(std::string_view name, std::string_view typed) {
  return name.size() >= typed.size() && edit_distance(name.substr(0, typed.size()), typed) == 0;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows of the table of distances between the beginnings of a and of b; a swap looks back by two.
  std::vector<std::size_t> before, last, row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string nearest_name(std::string_view typed, std::span<const std::string> names) {
  std::string nearest;
  std::size_t least = std::max<std::size_t>(1, typed.size() / 3) + 1;  // a third of the letters may be wrong
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(typed, name);
    if (distance >= least || distance >= name.size()) continue;
    least = distance;
    nearest = name;
  }
  if (!nearest.empty() || typed.size() < kShortestBeginning) return nearest;
  const auto found = std::ranges::find_if(names, [&](const std::string& name) { return begins_with(name, typed); });
  return found == names.end() ? "" : *found;
}

std::string did_you_mean(std::string_view typed, std::span<const std::string> names, std::string_view dashes) {
  const std::string nearest = nearest_name(typed, names);
  return nearest.empty() ? "" : "; did you mean " + std::string(dashes) + nearest + "?";
}

}  // namespace ergodic
