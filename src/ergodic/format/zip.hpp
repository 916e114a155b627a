// zip: the archive under npz (PKWARE APPNOTE 6.3.10, 2022; with zip64). It is read, not written.
//
//   local header, name, data   for each member      directory: an entry for each member      end record
//
// The directory at the end rules. Every size in it is checked against the file, members may not overlap, the
// inflated size must be the declared one, and each CRC-32 is verified.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ergodic {

enum class ZipMethod : std::uint16_t { kStored = 0, kDeflated = 8 };

/// A member as the directory describes it; its data is a view on the archive.
struct ZipMember {
  std::string name;
  ZipMethod method = ZipMethod::kStored;
  std::uint32_t crc = 0;
  std::uint64_t compressed = 0;
  std::uint64_t inflated = 0;
  std::uint64_t offset = 0;  ///< of the local header
  std::span<const std::byte> data;
};

/// The members in the order of the directory. `where` names the file in messages; the bytes must outlive the members.
std::vector<ZipMember> parse_zip(std::span<const std::byte> file, const std::string& where);

/// The first bytes of a member's content, up to `count`, not verified.
std::vector<std::byte> extract_start(const ZipMember& member, std::size_t count, const std::string& where);
/// A member's content, inflated and verified.
std::vector<std::byte> extract(const ZipMember& member, const std::string& where);

}  // namespace ergodic
