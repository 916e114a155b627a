#include "ergodic/store/sealed.hpp"

#include <fmt/format.h>

#include "ergodic/core/error.hpp"
#include "ergodic/core/version.hpp"
#include "ergodic/format/bytes.hpp"

namespace ergodic {

void write_sealed(const std::filesystem::path& path, Tensors tensors) {
  tensors.metadata["written_by"] = std::string("ergodic ") + kVersion;
  tensors.metadata["digest"] = digest_of(tensors);
  write_safetensors(path, tensors);
}

Unsealed read_sealed(const std::filesystem::path& path) {
  Unsealed out{read_safetensors(path), false};
  const auto& metadata = out.tensors.metadata;
  const auto stored = metadata.find("digest");
  if (stored == metadata.end()) {
    const auto writer = metadata.find("written_by");
    if (writer != metadata.end() && writer->second.starts_with("ergodic ")) {
      throw DataError(fmt::format("{}: metadata: written by {} but without its digest; the file is damaged",
                                  path.string(), excerpt(writer->second)));
    }
    return out;
  }
  const std::string found = digest_of(out.tensors);
  if (stored->second != found) {
    throw DataError(
        fmt::format("{}: the content does not agree with its digest (expected {}, found {}); the file is damaged",
                    path.string(), excerpt(stored->second), found));
  }
  out.verified = true;
  return out;
}

}  // namespace ergodic
