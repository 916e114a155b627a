// Writes zip archives and npz files, which the product only reads. Stored members, no dates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "ergodic/format/bytes.hpp"
#include "ergodic/format/file.hpp"
#include "ergodic/format/npy.hpp"
#include "ergodic/format/npz.hpp"

namespace ergodic {

using NamedArrays = std::vector<std::pair<std::string, Array>>;

/// All arrays of a file.
inline NamedArrays parse_npz(std::span<const std::byte> file, const std::string& where) {
  const NpzFile npz(file, where);
  NamedArrays out;
  for (std::size_t k = 0; k < npz.names().size(); ++k) out.emplace_back(npz.names()[k], npz.array(k));
  return out;
}

using NamedContents = std::vector<std::pair<std::string, std::vector<std::byte>>>;

inline std::uint32_t crc32_of(std::span<const std::byte> bytes) {
  std::uint32_t crc = ~0u;
  for (const std::byte b : bytes) {
    crc ^= std::to_integer<std::uint32_t>(b);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1u) ? 0xedb88320u : 0u);
  }
  return ~crc;
}

/// The fields that a local header and a directory entry share, from "version needed" to the extra field's length.
inline void append_shared_fields(std::vector<std::byte>& file, const std::string& name,
                                 std::span<const std::byte> content) {
  append_integer<std::uint16_t>(file, 20);             // version
  append_integer<std::uint16_t>(file, 0x800);          // names are UTF-8
  append_integer<std::uint16_t>(file, 0);              // stored
  append_integer<std::uint32_t>(file, 0x0021u << 16);  // 1980-01-01 00:00
  append_integer<std::uint32_t>(file, crc32_of(content));
  append_integer(file, static_cast<std::uint32_t>(content.size()));
  append_integer(file, static_cast<std::uint32_t>(content.size()));
  append_integer(file, static_cast<std::uint16_t>(name.size()));
  append_integer<std::uint16_t>(file, 0);
}

inline std::vector<std::byte> encode_zip(const NamedContents& contents) {
  std::vector<std::byte> file, directory;
  for (const auto& [name, content] : contents) {
    append_integer<std::uint32_t>(directory, 0x02014b50);
    append_integer<std::uint16_t>(directory, 20);
    append_shared_fields(directory, name, content);
    append(directory, std::array<std::byte, 2 + 2 + 2 + 4>{});  // comment, disk, attributes
    append_integer(directory, static_cast<std::uint32_t>(file.size()));
    append(directory, as_bytes(name));
    append_integer<std::uint32_t>(file, 0x04034b50);
    append_shared_fields(file, name, content);
    append(file, as_bytes(name));
    append(file, content);
  }
  const auto begin = static_cast<std::uint32_t>(file.size()), size = static_cast<std::uint32_t>(directory.size());
  const auto entries = static_cast<std::uint16_t>(contents.size());
  append(file, directory);
  append_integer<std::uint32_t>(file, 0x06054b50);
  append_integer<std::uint32_t>(file, 0);  // disks
  append_integer(file, entries);
  append_integer(file, entries);
  append_integer(file, size);
  append_integer(file, begin);
  append_integer<std::uint16_t>(file, 0);  // comment
  return file;
}

inline std::vector<std::byte> encode_npz(const NamedArrays& arrays) {
  NamedContents contents;
  for (const auto& [name, array] : arrays) contents.emplace_back(name + ".npy", encode_npy(array));
  return encode_zip(contents);
}

inline void write_npz(const std::filesystem::path& path, const NamedArrays& arrays) {
  write_file(path, encode_npz(arrays));
}

}  // namespace ergodic
