#include "ergodic/format/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>

#include "ergodic/core/error.hpp"
#include "ergodic/format/bytes.hpp"
#include "ergodic/format/file.hpp"
#include "ergodic/format/safetensors_header.hpp"
#include "ergodic/format/sha256.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kLengthSize = 8;
constexpr std::uint64_t kLongestHeader = 16'000'000;  // room for the names of a million units
constexpr std::string_view kDigestKey = "digest";

/// A file whose parts are read as they are needed: nothing is read, or allocated, that the part before does not vouch
/// for.
struct Source {
  std::size_t size;
  std::function<std::vector<std::byte>(std::size_t begin, std::size_t count)> read;
  const std::string& where;

  std::vector<std::byte> take(std::size_t begin, std::size_t count, std::string_view what) const {
    std::vector<std::byte> bytes = read(begin, std::min(count, size - begin));
    if (bytes.size() < count) {
      fail_at(where, begin,
              fmt::format("expected {} bytes of {}, found {}; the file is truncated or damaged", count, what,
                          bytes.size()));
    }
    return bytes;
  }
};

/// Where the data begins, by the length at the beginning of the file.
std::size_t header_end(const Source& file) {
  const std::vector<std::byte> head = file.take(0, kLengthSize, "the header length");
  const auto length = ByteReader(head, file.where).integer<std::uint64_t>(ByteOrder::kLittle, "the header length");
  if (length > file.size - kLengthSize) {
    fail_at(
        file.where, 0,
        fmt::format("not a safetensors file, or a truncated one: the header length {} does not fit a file of {} bytes",
                    length, file.size));
  }
  if (length > kLongestHeader) {
    fail_at(file.where, 0, fmt::format("header length {} is more than the {} allowed", length, kLongestHeader));
  }
  return kLengthSize + length;
}

void check_size(const TensorEntry& entry, const std::string& where) {
  const auto expected = byte_count(entry.type, entry.shape);
  if (expected == entry.end - entry.begin) return;
  fail_at(
      where, kLengthSize,
      fmt::format("header, tensor {}: {} {} takes {} bytes, but data_offsets [{}, {}] give {}", excerpt(entry.name),
                  name_of(entry.type), shape_text(entry.shape), expected ? std::to_string(*expected) : "more than 2^64",
                  entry.begin, entry.end, entry.end - entry.begin));
}

/// The arrays must follow one another and end with the file: no hole, no overlap, nothing left.
void check_tiling(const std::vector<TensorEntry>& entries, std::size_t data_begin, const Source& file) {
  std::vector<const TensorEntry*> sorted;
  for (const TensorEntry& entry : entries) sorted.push_back(&entry);
  std::sort(sorted.begin(), sorted.end(), [](const TensorEntry* a, const TensorEntry* b) {
    return std::tie(a->begin, a->end) < std::tie(b->begin, b->end);
  });
  std::size_t end = 0;
  for (const TensorEntry* entry : sorted) {
    if (entry->begin != end) {
      fail_at(
          file.where, kLengthSize,
          fmt::format("header, tensor {}: expected data_offsets to begin at {}, where the one before ends, found {}",
                      excerpt(entry->name), end, entry->begin));
    }
    end = entry->end;
  }
  if (end != file.size - data_begin) {
    fail_at(file.where, data_begin,
            fmt::format("expected {} bytes of data as the header says, found {}; the file is truncated or damaged", end,
                        file.size - data_begin));
  }
}

Tensors tensors_in(const Source& file) {
  const std::size_t data_begin = header_end(file);
  const std::vector<std::byte> json = file.take(kLengthSize, data_begin - kLengthSize, "the header");
  TensorsHeader header = parse_tensors_header(as_text(json), kLengthSize, file.where);
  for (const TensorEntry& entry : header.entries) check_size(entry, file.where);
  check_tiling(header.entries, data_begin, file);
  Tensors tensors;
  tensors.metadata = std::move(header.metadata);
  for (TensorEntry& entry : header.entries) {
    std::vector<std::byte> data = file.take(data_begin + entry.begin, entry.end - entry.begin, "an array");
    check_bools(entry.type, data, file.where, data_begin + entry.begin);
    tensors.arrays.emplace_back(std::move(entry.name), Array{entry.type, std::move(entry.shape), std::move(data)});
  }
  return tensors;
}

void add_number(Sha256& sha, std::uint64_t number) {
  std::vector<std::byte> bytes;
  append_integer(bytes, number);
  sha.add(bytes);
}

/// Length first, so that no two lists of texts look alike.
void add_text(Sha256& sha, std::string_view text) {
  add_number(sha, text.size());
  sha.add(as_bytes(text));
}

}  // namespace

const Array* Tensors::find(std::string_view name) const {
  const auto found = std::find_if(arrays.begin(), arrays.end(), [&](const auto& item) { return item.first == name; });
  return found == arrays.end() ? nullptr : &found->second;
}

Tensors parse_safetensors(std::span<const std::byte> bytes, const std::string& where) {
  const auto read = [&](std::size_t begin, std::size_t count) {
    const auto part = bytes.subspan(begin, count);
    return std::vector<std::byte>(part.begin(), part.end());
  };
  return tensors_in({bytes.size(), read, where});
}

std::vector<std::byte> encode_safetensors(const Tensors& tensors) {
  TensorsHeader header;
  header.metadata = tensors.metadata;
  std::set<std::string_view> names = {kMetadataKey};
  std::size_t end = 0;
  for (const auto& [name, array] : tensors.arrays) {
    require(names.insert(name).second, fmt::format("the name {} is taken; give each array its own", excerpt(name)));
    require_whole(array, name);
    header.entries.push_back({name, array.type, array.shape, end, end + array.bytes.size()});
    end += array.bytes.size();
  }
  constexpr std::size_t kAlignment = 8;
  std::string json = encode_tensors_header(header);
  json.resize((json.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  require(json.size() <= kLongestHeader,
          fmt::format("names and metadata take {} bytes, more than the {} allowed", json.size(), kLongestHeader));
  std::vector<std::byte> file;
  file.reserve(kLengthSize + json.size() + end);
  append_integer<std::uint64_t>(file, json.size());
  append(file, as_bytes(json));
  for (const auto& item : tensors.arrays) append(file, item.second.bytes);
  return file;
}

std::string digest_of(const Tensors& tensors) {
  Sha256 sha;
  add_number(sha, tensors.metadata.size() - tensors.metadata.count(std::string(kDigestKey)));
  for (const auto& [key, value] : tensors.metadata) {
    if (key == kDigestKey) continue;
    add_text(sha, key);
    add_text(sha, value);
  }
  add_number(sha, tensors.arrays.size());
  for (const auto& [name, array] : tensors.arrays) {
    add_text(sha, name);
    add_text(sha, name_of(array.type));
    add_number(sha, array.shape.size());
    for (const std::size_t extent : array.shape) add_number(sha, extent);
    add_text(sha, as_text(array.bytes));
  }
  return sha.hex();
}

Tensors read_safetensors(const std::filesystem::path& path) {
  const InputFile file(path);
  const std::string where = path.string();
  return tensors_in(
      {file.size(), [&](std::size_t begin, std::size_t count) { return file.read(begin, count); }, where});
}

void write_safetensors(const std::filesystem::path& path, const Tensors& tensors) {
  write_file(path, encode_safetensors(tensors));
}

}  // namespace ergodic
