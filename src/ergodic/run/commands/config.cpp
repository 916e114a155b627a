#include "ergodic/run/commands/config.hpp"

#include <fmt/format.h>

#include <sstream>
#include <string_view>

#include "ergodic/core/error.hpp"
#include "ergodic/format/bytes.hpp"
#include "ergodic/format/file.hpp"

namespace ergodic {
namespace {

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

}  // namespace

std::map<std::string, std::string> read_config(const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = read_file(path);
  std::istringstream file{std::string(as_text(bytes))};
  std::map<std::string, std::string> out;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    const std::string content = trimmed(std::string_view(line).substr(0, line.find('#')));
    if (content.empty()) continue;
    const auto equals = content.find('=');
    const std::string name = trimmed(std::string_view(content).substr(0, equals));
    if (equals == std::string::npos || name.empty()) {
      throw DataError(
          fmt::format("{}: line {}: expected name = value, found {}", path.string(), number, excerpt(content)));
    }
    if (!out.emplace(name, trimmed(std::string_view(content).substr(equals + 1))).second) {
      throw DataError(fmt::format("{}: line {}: {} is given twice", path.string(), number, excerpt(name)));
    }
  }
  return out;
}

}  // namespace ergodic
