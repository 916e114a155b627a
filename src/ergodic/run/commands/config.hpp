// Config files: options of a command, a line `name = value` each.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace ergodic {

/// The values in a config file, with # comments. DataError naming the line if one is not `name = value`.
std::map<std::string, std::string> read_config(const std::filesystem::path& path);

}  // namespace ergodic
