// Where results go: looked at before the work begins, so that hours are not lost to a mistyped name.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <utility>

namespace ergodic {

/// IoError unless a file could be written there; nothing is written. An empty path is fine.
void require_writable(const std::filesystem::path& path);

/// UsageError if two of these options name the same file; empty paths do not count.
void require_distinct(std::initializer_list<std::pair<std::string, std::filesystem::path>> options);

}  // namespace ergodic
