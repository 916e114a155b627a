// What a mistyped name was meant to be: of a command, an option, a data set, a column.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ergodic {

/// How many letters must be put in, left out, changed or swapped with their neighbour to make one text of the other;
/// capitals count as small letters.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name that was probably meant: the nearest, or one that begins so; empty if none comes near.
std::string nearest_name(std::string_view typed, std::span<const std::string> names);

/// "; did you mean --hidden?", to follow a message; `dashes` stand before the name. Empty if no name comes near.
std::string did_you_mean(std::string_view typed, std::span<const std::string> names, std::string_view dashes = "");

}  // namespace ergodic
