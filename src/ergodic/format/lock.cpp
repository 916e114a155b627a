#include "ergodic/format/lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

/// Different names of one file have one lock.
std::filesystem::path lock_beside(const std::filesystem::path& target) {
  std::error_code failure;
  const std::filesystem::path real = std::filesystem::weakly_canonical(target, failure);
  return (failure ? target : real).string() + ".lock";
}

/// Whether the file is still there under its name: who held the lock before may have removed it.
bool is_at(int file, const std::filesystem::path& path) {
  struct stat here {};
  struct stat named {};
  return ::fstat(file, &here) == 0 && ::lstat(path.c_str(), &named) == 0 && here.st_ino == named.st_ino &&
         here.st_dev == named.st_dev;
}

}  // namespace

FileLock::FileLock(const std::filesystem::path& target) : path_(lock_beside(target)) {
  while (true) {
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (file_ < 0) {
      if (errno == EINTR) continue;
      throw IoError(fmt::format("cannot lock {} by the file {}: {}", target.string(), path_.string(),
                                std::generic_category().message(errno)));
    }
    const bool locked = ::flock(file_, LOCK_EX | LOCK_NB) == 0;
    if (!locked && errno == EWOULDBLOCK) {
      ::close(file_);
      throw IoError(fmt::format("another run is writing {}; wait for its end, or give each run a name of its own",
                                target.string()));
    }
    if (!locked) ::unlink(path_.c_str());  // no locks here
    if (!locked || is_at(file_, path_)) return;
    ::close(file_);
  }
}

FileLock::~FileLock() {
  // While the lock is held, so that nobody else can have that of the file under this name.
  if (is_at(file_, path_)) ::unlink(path_.c_str());
  ::close(file_);
}

}  // namespace ergodic
