#include "ergodic/run/commands/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>

#include "ergodic/core/error.hpp"
#include "ergodic/format/npy.hpp"
#include "ergodic/store/tensors.hpp"

namespace ergodic {

void require_writable(const std::filesystem::path& path) {
  if (path.empty()) return;
  std::error_code failure;
  const auto status = std::filesystem::status(path, failure);
  if (status.type() == std::filesystem::file_type::none) {
    throw IoError(fmt::format("{}: cannot be written: {}", path.string(), failure.message()));
  }
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw IoError(fmt::format("{}: is a folder or a device, expected the name of a file", path.string()));
  }
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const bool is_folder = std::filesystem::is_directory(folder, failure);
  if (!is_folder || ::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw IoError(fmt::format("{}: cannot write into the folder {}: {}", path.string(), folder.string(),
                              is_folder ? std::strerror(errno) : "there is none of that name"));
  }
}

void require_distinct(const std::vector<std::pair<std::string, std::filesystem::path>>& options) {
  std::map<std::filesystem::path, std::string> seen;
  for (const auto& [name, path] : options) {
    if (path.empty()) continue;
    std::error_code failure;
    const auto place = std::filesystem::weakly_canonical(std::filesystem::absolute(path, failure), failure);
    if (failure) continue;  // no file can be there, and opening it will say so
    const auto [other, is_new] = seen.emplace(place, name);
    require(is_new, fmt::format("{} and {} both name {}", other->second, name, path.string()));
  }
}

void require_picture_or_array(const std::filesystem::path& out) {
  require(out.extension() == ".png" || out.extension() == ".npy",
          fmt::format("--out: expected a name ending in .png or .npy, found '{}'", out.string()));
  require_writable(out);
}

bool is_array(const std::filesystem::path& out) { return out.extension() == ".npy"; }

void write_values(const std::filesystem::path& out, const Matrix<float>& values) {
  write_npy(out, array_of(values.elements(), {values.rows(), values.cols()}));
}

}  // namespace ergodic
