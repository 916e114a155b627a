// safetensors: named arrays and text metadata in one file, which cannot hold code (Hugging Face, safetensors 0.4,
// 2022).
//
//   header length (8 bytes, little-endian)   JSON header, padded with blanks   the arrays, one after the other
//
// The strictest reader that still takes every valid file: the arrays must tile the rest of the file exactly. The
// format has no checksum; digest_of gives one, which a writer may keep in the metadata under "digest".
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ergodic/format/array.hpp"

namespace ergodic {

struct Tensors {
  std::vector<std::pair<std::string, Array>> arrays;
  std::map<std::string, std::string> metadata;

  /// The array of this name, or null.
  const Array* find(std::string_view name) const;
};

Tensors read_safetensors(const std::filesystem::path& path);
/// Arrays in their order, metadata sorted: the same tensors give the same bytes.
void write_safetensors(const std::filesystem::path& path, const Tensors& tensors);

/// `where` names the file in messages.
Tensors parse_safetensors(std::span<const std::byte> file, const std::string& where);
std::vector<std::byte> encode_safetensors(const Tensors& tensors);

/// SHA-256 of everything but the metadata "digest": each key, value, name, type, shape and element counts.
std::string digest_of(const Tensors& tensors);

}  // namespace ergodic
