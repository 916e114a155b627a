#include "ergodic/format/zip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <string_view>

#include "ergodic/core/error.hpp"
#include "ergodic/format/bytes.hpp"
#include "ergodic/format/inflate.hpp"

namespace ergodic {
namespace {

constexpr std::uint32_t kLocalSignature = 0x04034b50;
constexpr std::uint32_t kCentralSignature = 0x02014b50;
constexpr std::uint32_t kEndSignature = 0x06054b50;
constexpr std::uint32_t kZip64EndSignature = 0x06064b50;
constexpr std::uint32_t kZip64LocatorSignature = 0x07064b50;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kZip64LocatorSize = 20;
constexpr std::uint32_t kIn64 = 0xffffffff;  // "the value stands in the zip64 field"

struct Directory {
  std::uint64_t entries = 0;
  std::uint64_t offset = 0;
};

std::uint16_t read16(ByteReader& file, std::string_view what) {
  return file.integer<std::uint16_t>(ByteOrder::kLittle, what);
}
std::uint32_t read32(ByteReader& file, std::string_view what) {
  return file.integer<std::uint32_t>(ByteOrder::kLittle, what);
}
std::uint64_t read64(ByteReader& file, std::string_view what) {
  return file.integer<std::uint64_t>(ByteOrder::kLittle, what);
}

void expect_signature(ByteReader& file, std::uint32_t signature, std::string_view what) {
  const std::size_t at = file.position();
  const std::uint32_t found = read32(file, what);
  if (found == signature) return;
  fail_at(file.where(), at,
          fmt::format("expected {} ({:08x}), found {:08x}; the file is damaged", what, signature, found));
}

/// Where the end record begins: the last one whose comment reaches exactly to the end of the file.
std::size_t find_end_record(std::span<const std::byte> bytes, const std::string& where) {
  constexpr std::size_t kLongestComment = 0xffff;
  for (std::size_t comment = 0; comment <= kLongestComment && kEndSize + comment <= bytes.size(); ++comment) {
    const std::size_t at = bytes.size() - kEndSize - comment;
    ByteReader record(bytes.subspan(at, kEndSize), where);
    if (read32(record, "signature") != kEndSignature) continue;
    record.seek(kEndSize - 2, "comment length");
    if (read16(record, "comment length") == comment) return at;
  }
  throw DataError(fmt::format(
      "{}: byte {}: expected a zip directory at the end, found none; the file is truncated or not an npz file", where,
      bytes.size()));
}

/// The directory by the zip64 end record, if the locator just before the end record points to one.
bool read_zip64_directory(ByteReader& file, std::size_t end_record, Directory& directory) {
  if (end_record < kZip64LocatorSize) return false;
  file.seek(end_record - kZip64LocatorSize, "zip64 locator");
  if (read32(file, "zip64 locator") != kZip64LocatorSignature) return false;
  read32(file, "disk number");
  file.seek(read64(file, "zip64 end record offset"), "zip64 end record");
  expect_signature(file, kZip64EndSignature, "zip64 end record");
  file.take(8 + 2 + 2 + 4 + 4 + 8, "zip64 end record");  // its size, versions, disks, entries on this disk
  directory.entries = read64(file, "number of members");
  read64(file, "directory size");
  directory.offset = read64(file, "directory offset");
  return true;
}

Directory read_directory(ByteReader& file, std::size_t end_record) {
  Directory directory;
  if (read_zip64_directory(file, end_record, directory)) return directory;
  file.seek(end_record + 4, "end record");
  const auto disk = read16(file, "disk number");
  const auto directory_disk = read16(file, "disk number");
  const auto here = read16(file, "number of members");
  directory.entries = read16(file, "number of members");
  read32(file, "directory size");
  directory.offset = read32(file, "directory offset");
  if (disk != 0 || directory_disk != 0 || here != directory.entries) {
    fail_at(file.where(), end_record, "expected an archive in one piece, found one of several disks");
  }
  return directory;
}

/// Takes the 64-bit values from the extra field, in the order the format fixes, for those that did not fit.
void read_zip64_extra(ByteReader extra, ZipMember& member) {
  constexpr std::uint16_t kZip64Field = 1;
  while (extra.remaining() > 0) {
    const auto id = read16(extra, "extra field");
    const auto size = read16(extra, "extra field");
    ByteReader field(extra.take(size, "extra field"), extra.where());
    if (id != kZip64Field) continue;
    for (std::uint64_t* value : {&member.inflated, &member.compressed, &member.offset}) {
      if (*value == kIn64) *value = read64(field, "zip64 extra field");
    }
    return;
  }
}

ZipMember read_central_entry(ByteReader& file) {
  constexpr std::uint16_t kEncrypted = 1;
  ZipMember member;
  const std::size_t at = file.position();
  expect_signature(file, kCentralSignature, "directory entry");
  file.take(4, "versions");
  const auto flags = read16(file, "flags");
  const auto method = read16(file, "method");
  member.method = static_cast<ZipMethod>(method);
  file.take(4, "date");
  member.crc = read32(file, "CRC-32");
  member.compressed = read32(file, "compressed size");
  member.inflated = read32(file, "size");
  const auto name_size = read16(file, "name length");
  const auto extra_size = read16(file, "extra field length");
  const auto comment_size = read16(file, "comment length");
  file.take(2 + 2 + 4, "attributes");
  member.offset = read32(file, "local header offset");
  member.name = as_text(file.take(name_size, "name"));
  read_zip64_extra(ByteReader(file.take(extra_size, "extra field"), file.where() + ": extra field"), member);
  file.take(comment_size, "comment");
  if ((flags & kEncrypted) != 0) fail_at(file.where(), at, fmt::format("member {} is encrypted", excerpt(member.name)));
  if (member.method != ZipMethod::kStored && member.method != ZipMethod::kDeflated) {
    fail_at(file.where(), at,
            fmt::format("member {}: expected compression method 0 (stored) or 8 (deflated), found {}; "
                        "write it with numpy.savez or numpy.savez_compressed",
                        excerpt(member.name), method));
  }
  return member;
}

/// Finds a member's bytes by its local header, which must agree with the directory.
void locate(ByteReader& file, ZipMember& member) {
  file.seek(member.offset, fmt::format("member {}", excerpt(member.name)));
  expect_signature(file, kLocalSignature, "local header");
  file.take(4, "version and flags");
  const auto method = static_cast<ZipMethod>(read16(file, "method"));
  file.take(4 + 4 + 4 + 4, "date, CRC-32 and sizes");
  const auto name_size = read16(file, "name length");
  const auto extra_size = read16(file, "extra field length");
  const auto name = as_text(file.take(name_size, "name"));
  if (name != member.name || method != member.method) {
    fail_at(file.where(), member.offset,
            fmt::format("expected the local header of {}, found that of {}, or another method; the file is damaged",
                        excerpt(member.name), excerpt(name)));
  }
  file.take(extra_size, "extra field");
  member.data = file.take(member.compressed, fmt::format("member {}", excerpt(member.name)));
}

/// Members that share bytes are how a small archive explodes (Fifield, "A better zip bomb", 2019).
void refuse_overlaps(std::span<const std::byte> bytes, std::vector<ZipMember> members, const std::string& where) {
  std::sort(members.begin(), members.end(), [](const ZipMember& a, const ZipMember& b) { return a.offset < b.offset; });
  std::size_t end = 0;
  for (const ZipMember& member : members) {
    if (member.offset < end) {
      fail_at(where, member.offset, fmt::format("member {} overlaps the one before it", excerpt(member.name)));
    }
    end = static_cast<std::size_t>(member.data.data() - bytes.data()) + member.data.size();
  }
}

std::uint32_t crc_of(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

std::vector<ZipMember> parse_zip(std::span<const std::byte> bytes, const std::string& where) {
  ByteReader file(bytes, where);
  const Directory directory = read_directory(file, find_end_record(bytes, where));
  file.seek(directory.offset, "the zip directory");
  std::vector<ZipMember> members;
  for (std::uint64_t i = 0; i < directory.entries; ++i) members.push_back(read_central_entry(file));
  for (ZipMember& member : members) locate(file, member);
  refuse_overlaps(bytes, members, where);
  return members;
}

std::vector<std::byte> extract_start(const ZipMember& member, std::size_t count, const std::string& where) {
  if (member.method == ZipMethod::kDeflated) {
    return Inflater(member.data, DeflateWrapper::kNone, where).take(std::min(count, member.inflated), "the member");
  }
  const auto start = member.data.first(std::min(count, member.data.size()));
  return {start.begin(), start.end()};
}

std::vector<std::byte> extract(const ZipMember& member, const std::string& where) {
  std::vector<std::byte> content;
  if (member.method == ZipMethod::kDeflated) {
    Inflater inflater(member.data, DeflateWrapper::kNone, where);
    content = inflater.take(member.inflated, "the member");
    inflater.finish();
  } else if (member.inflated == member.data.size()) {
    content.assign(member.data.begin(), member.data.end());
  } else {
    fail_at(where, 0,
            fmt::format("a stored member of {} bytes cannot become {} bytes; the file is damaged", member.data.size(),
                        member.inflated));
  }
  if (const auto crc = crc_of(content); crc != member.crc) {
    fail_at(where, 0, fmt::format("expected CRC-32 {:08x}, found {:08x}; the file is damaged", member.crc, crc));
  }
  return content;
}

}  // namespace ergodic
