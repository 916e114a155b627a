// Whole files: read with a bound, written so that nothing is ever lost.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

namespace ergodic {

/// The whole content of a file. NoInputError if it does not exist or cannot be opened.
std::vector<std::byte> read_file(const std::filesystem::path& path);

/// Writes beside the target, syncs, then renames over it: a reader sees the old file or the new one, whole. On any
/// failure (unwritable folder, full disk) throws IoError, leaves the target as it was and removes what it had written.
void write_file(const std::filesystem::path& path, std::span<const std::byte> content);

}  // namespace ergodic
