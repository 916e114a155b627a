#include "ergodic/format/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <string>
#include <system_error>
#include <utility>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

namespace fs = std::filesystem;

/// What strerror says, without its shared buffer.
std::string reason(int code) { return std::generic_category().message(code); }

[[noreturn]] void fail_read(const fs::path& path, const std::string& why) {
  throw NoInputError(fmt::format("cannot read {}: {}", path.string(), why));
}

[[noreturn]] void fail_write(const fs::path& path, const std::string& why) {
  throw IoError(fmt::format("cannot write {}: {}; what was there before is unchanged", path.string(), why));
}

/// Repeats a system call that a signal interrupted.
template <class Call>
auto retried(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// An open file, closed at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return number_; }
  bool open() const { return number_ >= 0; }
  void reset(int number) { number_ = number; }
  /// Closes now; false if the system reports a late write error. EINTR has closed the file on Linux.
  bool close() { return ::close(std::exchange(number_, -1)) == 0 || errno == EINTR; }

 private:
  int number_;
};

/// A new file in a folder that has no name until it is whole, so that a process that is killed leaves nothing behind.
/// Where the file system knows no files without a name, it has one that is not in use. Removed at the end of its scope
/// unless renamed.
class Temporary {
 public:
  Temporary(int folder, const fs::path& target) : folder_(folder), file_(open_nameless()), target_(target) {
    if (!file_.open()) file_.reset(with_new_name(&Temporary::create));
    if (!file_.open()) fail_write(target_, reason(errno));
  }
  ~Temporary() {
    if (!renamed_ && !name_.empty()) ::unlinkat(folder_, name_.c_str(), 0);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  void write(std::span<const std::byte> content) {
    constexpr std::size_t kMost = std::size_t{1} << 30;  // one write() takes at most 2 GiB on Linux
    while (!content.empty()) {
      const auto written =
          retried([&] { return ::write(file_.get(), content.data(), std::min(content.size(), kMost)); });
      if (written < 0) fail_write(target_, reason(errno));
      content = content.subspan(static_cast<std::size_t>(written));
    }
  }

  void set_mode(mode_t mode) {
    if (::fchmod(file_.get(), mode) != 0) fail_write(target_, reason(errno));
  }

  void rename_to(const fs::path& name) {
    if (retried([&] { return ::fsync(file_.get()); }) != 0) fail_write(target_, reason(errno));
    if (name_.empty() && with_new_name(&Temporary::link) != 0) fail_write(target_, reason(errno));
    if (!file_.close()) fail_write(target_, reason(errno));
    if (::renameat(folder_, name_.c_str(), folder_, name.c_str()) != 0) fail_write(target_, reason(errno));
    renamed_ = true;
  }

 private:
  /// By this path a file without a name can be given one.
  std::string path_of_open_file() const { return fmt::format("/proc/self/fd/{}", file_.get()); }

  int open_nameless() const {
#ifdef O_TMPFILE
    if (::access("/proc/self/fd", X_OK) != 0) return -1;
    return retried([&] { return ::openat(folder_, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0644); });
#else
    return -1;
#endif
  }
  int create() {
    return retried(
        [&] { return ::openat(folder_, name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644); });
  }
  int link() { return ::linkat(AT_FDCWD, path_of_open_file().c_str(), folder_, name_.c_str(), AT_SYMLINK_FOLLOW); }

  /// What the call returns with a name that is not in use. It does not contain the target's: that may already be as
  /// long as the file system allows.
  int with_new_name(int (Temporary::*call)()) {
    static std::atomic<unsigned> counter = 0;
    int result = -1;
    for (int attempt = 0; attempt < 1000; ++attempt) {
      name_ = fmt::format(".ergodic-{}-{}.tmp", ::getpid(), counter++);
      result = (this->*call)();
      if (result >= 0 || errno != EEXIST) break;
    }
    if (result < 0) name_.clear();
    return result;
  }

  int folder_;
  std::string name_;
  Descriptor file_;
  const fs::path& target_;
  bool renamed_ = false;
};

/// Through a symbolic link the file behind it is replaced, not the link.
fs::path behind_links(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_symlink(path, ignored)) return path;
  fs::path real = fs::canonical(path, ignored);
  return real.empty() ? path : real;
}

}  // namespace

// Not blocking: opening a pipe without a writer must not hang. Regular files do not notice.
InputFile::InputFile(const fs::path& path)
    : path_(path), number_(retried([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); })) {
  Descriptor file(number_);  // closed here if the constructor throws
  struct stat status {};
  if (!file.open() || ::fstat(number_, &status) != 0) fail_read(path, reason(errno));
  if (S_ISDIR(status.st_mode)) fail_read(path, reason(EISDIR));
  if (!S_ISREG(status.st_mode)) fail_read(path, "not a regular file; save its content to one first");
  size_ = static_cast<std::size_t>(status.st_size);
  file.reset(-1);
}

InputFile::~InputFile() { ::close(number_); }

std::vector<std::byte> InputFile::read(std::size_t begin, std::size_t count) const {
  std::vector<std::byte> content;
  try {
    content.resize(count);
  } catch (const std::exception&) {
    throw IoError(fmt::format("cannot read {}: its {} bytes do not fit in memory", path_.string(), size_));
  }
  std::size_t filled = 0;
  while (filled < count) {
    const auto got = retried(
        [&] { return ::pread(number_, content.data() + filled, count - filled, static_cast<off_t>(begin + filled)); });
    if (got < 0) throw IoError(fmt::format("cannot read {}: {}", path_.string(), reason(errno)));
    if (got == 0) break;  // another program shortened the file; its format's reader will say what is missing
    filled += static_cast<std::size_t>(got);
  }
  content.resize(filled);
  return content;
}

std::vector<std::byte> read_file(const fs::path& path) {
  const InputFile file(path);
  return file.read(0, file.size());
}

void write_file(const fs::path& path, std::span<const std::byte> content) {
  const fs::path target = behind_links(path);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const Descriptor directory(retried([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!directory.open()) fail_write(path, fmt::format("folder {}: {}", folder.string(), reason(errno)));

  struct stat old {};
  const bool exists = ::fstatat(directory.get(), target.filename().c_str(), &old, 0) == 0;
  if (exists && S_ISDIR(old.st_mode)) fail_write(path, reason(EISDIR));
  // A rename would replace a device such as /dev/null by a file.
  if (exists && !S_ISREG(old.st_mode)) fail_write(path, "not a regular file");

  Temporary temporary(directory.get(), path);
  if (exists) temporary.set_mode(old.st_mode & 0777);
  temporary.write(content);
  temporary.rename_to(target.filename());
  // Some file systems cannot sync a folder and say EINVAL; they order the rename themselves.
  if (retried([&] { return ::fsync(directory.get()); }) != 0 && errno != EINVAL) {
    throw IoError(fmt::format("{} is written, but its folder cannot be synced: {}", path.string(), reason(errno)));
  }
}

}  // namespace ergodic
