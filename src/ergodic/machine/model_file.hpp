// Model files: a machine of any kind as safetensors, in the layout of docs/format.md, which other programs may write
// too.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "ergodic/machine/machine.hpp"

namespace ergodic {

using Notes = std::map<std::string, std::string>;

struct ModelFile {
  std::unique_ptr<Machine> machine;
  Notes notes;            ///< further metadata: picture shape, how it was trained
  bool verified = false;  ///< the file had a digest, and it agrees
};

/// Writes the machine with its notes, atomically. The same machine and notes give the same bytes.
void save_model(const std::filesystem::path& path, const Machine& machine, const Notes& notes);

/// DataError if anything is missing, of another shape, not finite, or damaged.
ModelFile load_model(const std::filesystem::path& path);

}  // namespace ergodic
