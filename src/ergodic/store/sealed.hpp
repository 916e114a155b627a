// Sealed files: safetensors whose metadata carries who wrote them and a digest of everything else, so that any flipped
// bit is found. Files by other programs may come without a digest.
#pragma once

#include <filesystem>
#include <string>

#include "ergodic/format/safetensors.hpp"

namespace ergodic {

struct Unsealed {
  Tensors tensors;
  bool verified = false;  ///< a digest was there, and it agrees
};

/// Writes the tensors with "written_by" and "digest" added to their metadata.
void write_sealed(const std::filesystem::path& path, Tensors tensors);

/// DataError if the digest disagrees, or if the file says that Ergodic wrote it and has none.
Unsealed read_sealed(const std::filesystem::path& path);

}  // namespace ergodic
