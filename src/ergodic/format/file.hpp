// Files: read in parts or whole, written so that nothing is ever lost.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

namespace ergodic {

/// An open file, so that its first bytes can be judged before the others are read. Closed at the end of its scope.
class InputFile {
 public:
  /// NoInputError if it does not exist, cannot be opened, or is not a regular file.
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::size_t size() const { return size_; }
  /// So many bytes from this one on; fewer if another program has shortened the file.
  std::vector<std::byte> read(std::size_t begin, std::size_t count) const;

 private:
  std::filesystem::path path_;
  int number_;
  std::size_t size_ = 0;
};

/// The whole content of a file. NoInputError if it does not exist or cannot be opened.
std::vector<std::byte> read_file(const std::filesystem::path& path);

/// Writes beside the target, syncs, then renames over it: a reader sees the old file or the new one, whole. On any
/// failure (unwritable folder, full disk) throws IoError, leaves the target as it was and removes what it had written.
void write_file(const std::filesystem::path& path, std::span<const std::byte> content);

}  // namespace ergodic
