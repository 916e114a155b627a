#include "ergodic/machine/snapshots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <system_error>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/machine/model_file.hpp"

namespace ergodic {
namespace {

constexpr double kKept = 30.0;

std::vector<std::filesystem::path> machines_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> out;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    if (entry.path().extension() == ".safetensors") out.push_back(entry.path());
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace

std::vector<std::uint64_t> snapshot_updates(std::uint64_t total) {
  std::vector<std::uint64_t> out;
  for (double k = 0.0; k < kKept; ++k) {
    const auto update =
        static_cast<std::uint64_t>(std::llround(portable_exp(k / kKept * portable_log(static_cast<double>(total)))));
    if (update < total && (out.empty() || update > out.back())) out.push_back(update);
  }
  return out;
}

std::filesystem::path snapshot_file(const std::filesystem::path& folder, std::uint64_t update) {
  return folder / fmt::format("{:012}.safetensors", update);
}

void prepare_snapshots(const std::filesystem::path& folder, bool resume) {
  if (folder.empty()) return;
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (!std::filesystem::is_directory(folder)) {
    throw IoError(fmt::format("{}: cannot make this folder: {}", folder.string(),
                              failure ? failure.message() : "there is a file of that name"));
  }
  require(resume || machines_in(folder).empty(),
          fmt::format("{} holds the machines of another run; name another folder, or remove them", folder.string()));
}

std::vector<Parameters> read_snapshots(const std::filesystem::path& folder, const Machine& machine) {
  std::vector<Parameters> out;
  if (folder.empty()) return out;
  machine.require_stations();
  for (const std::filesystem::path& path : machines_in(folder)) {
    const ModelFile file = load_model(path);
    if (!machine.same_shape(*file.machine)) {
      throw DataError(
          fmt::format("{}: is not a machine of the same shape as the one given; expected what its "
                      "own training kept",
                      path.string()));
    }
    out.push_back(file.machine->parameters());
  }
  if (out.empty()) {
    throw NoInputError(
        fmt::format("{}: holds no machines; expected the folder of train --trajectory", folder.string()));
  }
  return out;
}

}  // namespace ergodic
