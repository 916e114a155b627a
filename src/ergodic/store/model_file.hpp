// Model files: a machine as safetensors, in the layout of docs/format.md, which other programs may write too.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "ergodic/model/rbm.hpp"

namespace ergodic {

struct ModelFile {
  Rbm model;
  std::map<std::string, std::string> notes;  ///< further metadata: picture shape, how it was trained
  bool verified = false;                     ///< the file had a digest, and it agrees
};

/// Writes the machine with its notes, atomically. The same machine and notes give the same bytes.
void save_model(const std::filesystem::path& path, const Rbm& model, const std::map<std::string, std::string>& notes);

/// DataError if anything is missing, of another shape, not finite, or damaged.
ModelFile load_model(const std::filesystem::path& path);

}  // namespace ergodic
