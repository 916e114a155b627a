#include "ergodic/run/commands/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "ergodic/core/error.hpp"
#include "ergodic/format/csv.hpp"
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
                              is_folder ? std::strerror(errno) : "no such folder"));
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

void require_ending(const std::filesystem::path& out, const std::vector<std::string>& endings) {
  require(std::ranges::find(endings, out.extension().string()) != endings.end(),
          fmt::format("--out: expected a name ending in {}, found '{}'", fmt::join(endings, ", "), out.string()));
  require_writable(out);
}

bool is_picture(const std::filesystem::path& out) { return out.extension() == ".png"; }

void write_table(const std::filesystem::path& out, const std::vector<std::string>& names,
                 const Matrix<double>& values) {
  if (out.extension() == ".npy") return write_npy(out, array_of(values.elements(), {values.rows(), values.cols()}));
  std::vector<std::vector<std::string>> lines{names};
  for (std::size_t r = 0; r < values.rows(); ++r) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const double value : values.row(r)) line.push_back(fmt::format("{}", value));
  }
  write_csv(out, lines);
}

void write_rows(const std::filesystem::path& out, const Layer&, const Matrix<float>& values, RowValues,
                const std::vector<std::string>& names) {
  if (out.extension() == ".npy") return write_npy(out, array_of(values.elements(), {values.rows(), values.cols()}));
  std::vector<std::vector<std::string>> lines;
  if (!names.empty()) lines.push_back(names);
  for (std::size_t r = 0; r < values.rows(); ++r) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const float value : values.row(r)) line.push_back(fmt::format("{}", value));
  }
  write_csv(out, lines);
}

}  // namespace ergodic
