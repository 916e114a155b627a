// Where results go: looked at before the work begins, so that hours are not lost to a mistyped folder.
#pragma once

#include <filesystem>

namespace ergodic {

/// IoError unless a file could be written there; nothing is written. An empty path is fine.
void require_writable(const std::filesystem::path& path);

}  // namespace ergodic
