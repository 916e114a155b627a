#include "ergodic/run/trajectory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <system_error>
#include <variant>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"

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

bool alike(const Rbm& a, const Rbm& b) {
  const auto same = [](const Layer& x, const Layer& y) {
    return name_of(x) == name_of(y) && units_of(x) == units_of(y) && letters_of(x) == letters_of(y);
  };
  return same(a.visible(), b.visible()) && same(a.hidden(), b.hidden());
}
bool alike(const Boltzmann& a, const Boltzmann& b) {
  return name_of(a.units()) == name_of(b.units()) && letters_of(a.units()) == letters_of(b.units()) &&
         a.visible() == b.visible() && a.graph() == b.graph();
}
bool alike(const Neural& a, const Neural& b) {
  return units_of(a.units()) == units_of(b.units()) && a.hidden() == b.hidden();
}

}  // namespace

std::vector<std::uint64_t> kept_updates(std::uint64_t total) {
  std::vector<std::uint64_t> out;
  for (double k = 0.0; k < kKept; ++k) {
    const auto update =
        static_cast<std::uint64_t>(std::llround(portable_exp(k / kKept * portable_log(static_cast<double>(total)))));
    if (update < total && (out.empty() || update > out.back())) out.push_back(update);
  }
  return out;
}

std::filesystem::path station_file(const std::filesystem::path& folder, std::uint64_t update) {
  return folder / fmt::format("{:012}.safetensors", update);
}

void prepare_trajectory(const std::filesystem::path& folder, bool resume) {
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

std::vector<Parameters> stations_in(const std::filesystem::path& folder, const Machine& machine) {
  std::vector<Parameters> out;
  if (folder.empty()) return out;
  require(!std::holds_alternative<Neural>(machine),
          "a neural energy is annealed from the data's own normal distribution, and its chains jump from there; leave "
          "out --path");
  for (const std::filesystem::path& path : machines_in(folder)) {
    const ModelFile file = load_model(path);
    const bool fits = std::visit(
        [](const auto& a, const auto& b) {
          if constexpr (std::is_same_v<decltype(a), decltype(b)>) return alike(a, b);
          return false;
        },
        machine, file.machine);
    if (!fits) {
      throw DataError(
          fmt::format("{}: is not a machine of the same shape as the one given; expected what its "
                      "own training kept",
                      path.string()));
    }
    std::visit([&](const auto& station) { out.push_back(station.parameters()); }, file.machine);
  }
  if (out.empty()) {
    throw NoInputError(
        fmt::format("{}: holds no machines; expected the folder of train --trajectory", folder.string()));
  }
  return out;
}

}  // namespace ergodic
