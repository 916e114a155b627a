// A lock on the name of a file, so that two processes do not write it by turns.
#pragma once

#include <filesystem>

namespace ergodic {

/// Holds the lock of a target while it lives: a file beside it, its name with ".lock" at the end, which is there as
/// long as the lock is held. If the process is killed the system lets go of it, and the next one to ask takes the file
/// over. On a file system without locks there is none, and the file is removed at once.
class FileLock {
 public:
  /// IoError if another process holds it.
  explicit FileLock(const std::filesystem::path& target);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  std::filesystem::path path_;
  int file_ = -1;
};

}  // namespace ergodic
