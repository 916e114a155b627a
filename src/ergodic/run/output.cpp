#include "ergodic/run/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "ergodic/core/error.hpp"

namespace ergodic {

void require_writable(const std::filesystem::path& path) {
  if (path.empty()) return;
  if (std::filesystem::is_directory(path))
    throw IoError(fmt::format("{}: is a folder, expected a file name", path.string()));
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw IoError(
        fmt::format("{}: cannot write into the folder {}: {}", path.string(), folder.string(), std::strerror(errno)));
  }
}

}  // namespace ergodic
