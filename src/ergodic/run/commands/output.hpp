// Where results go: looked at before the work begins, so that hours are not lost to a mistyped name.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "ergodic/core/matrix.hpp"

namespace ergodic {

/// IoError unless a file could be written there; nothing is written. An empty path is fine.
void require_writable(const std::filesystem::path& path);

/// UsageError if two of these options name the same file; empty paths do not count.
void require_distinct(const std::vector<std::pair<std::string, std::filesystem::path>>& options);

/// UsageError unless the name ends in .png or .npy; then IoError unless it can be written.
void require_picture_or_array(const std::filesystem::path& out);
bool is_array(const std::filesystem::path& out);

/// Writes values in [0, 1], whatever the units, as an array of 32-bit floats: what --data reads back.
void write_values(const std::filesystem::path& out, const Matrix<float>& values);

}  // namespace ergodic
