#include "ergodic/data/contents.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/format/bytes.hpp"
#include "ergodic/format/clustal.hpp"
#include "ergodic/format/file.hpp"
#include "ergodic/format/idx.hpp"
#include "ergodic/format/inflate.hpp"
#include "ergodic/format/npy.hpp"
#include "ergodic/format/npz.hpp"
#include "ergodic/format/png.hpp"
#include "ergodic/format/rdata.hpp"
#include "ergodic/format/stockholm.hpp"

namespace ergodic {
namespace {

using namespace std::string_view_literals;

/// A format that people have data in and that is not read.
struct Foreign {
  std::string_view start;  ///< of its files
  std::string_view what, advice;
};

constexpr Foreign kForeign[] = {
    {"\x89PNG\r\n\x1a\n"sv, "a PNG picture", "to read pictures, give the folder that they are in"},
    {"\xff\xd8\xff"sv, "a JPEG picture", "turn it into PNG, and give the folder of the pictures"},
    {"\x89HDF\r\n\x1a\n"sv, "an HDF5 file", "save the array as npy (numpy.save)"},
    {"PAR1"sv, "a Parquet file", "save the table as csv (DataFrame.to_csv)"},
    {"\x80\x02"sv, "a Python pickle", "save the array as npy (numpy.save)"},
    {"\x80\x03"sv, "a Python pickle", "save the array as npy (numpy.save)"},
    {"\x80\x04"sv, "a Python pickle", "save the array as npy (numpy.save)"},
    {"\x80\x05"sv, "a Python pickle", "save the array as npy (numpy.save)"},
    {"BZh"sv, "compressed by bzip2", "unpack it first (bunzip2)"},
    {"\xfd"
     "7zXZ"sv,
     "compressed by xz", "unpack it first (unxz)"},
    {"RDA"sv, "data of R as text", "save it without ascii = TRUE"},
    {"\xff\xfe"sv, "text in UTF-16", "save it as UTF-8"},
};

[[noreturn]] void refuse(const std::string& where, std::string_view what, std::string_view advice) {
  throw DataError(fmt::format("{}: this is {}; {}", where, what, advice));
}

/// A header's length in 8 bytes, then the JSON that it is the length of.
bool is_safetensors(std::string_view text) {
  return text.size() > 9 && text[8] == '{' && text.substr(5, 3) == "\0\0\0"sv;
}

void refuse_foreign(std::string_view text, const std::string& where) {
  for (const Foreign& format : kForeign) {
    if (text.starts_with(format.start)) refuse(where, format.what, format.advice);
  }
  if (is_safetensors(text)) {
    refuse(where, "a safetensors file, such as a model",
           "as data, give the rows that the machine is to see (npy, csv, ...)");
  }
}

/// Sequences that someone forgot to name: the first line has letters and gaps only, and many of them.
bool is_nameless_sequence(std::string_view text) {
  constexpr std::size_t kFewest = 10;
  const std::string_view line = text.substr(0, text.find_first_of("\r\n"));
  return line.size() >= kFewest && std::ranges::all_of(line, [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '.' || c == '*';
         });
}

std::optional<std::size_t> find(const NpzFile& archive, std::initializer_list<std::string_view> names) {
  for (std::size_t k = 0; k < archive.names().size(); ++k) {
    if (std::ranges::find(names, archive.names()[k]) != names.end()) return k;
  }
  return std::nullopt;
}

/// The only array of rows; nothing if there are several.
std::optional<std::size_t> only_rows(const NpzFile& archive) {
  if (archive.names().size() == 1) return 0;
  std::optional<std::size_t> only;
  for (std::size_t k = 0; k < archive.names().size(); ++k) {
    if (archive.shape(k).size() < 2) continue;
    if (only) return std::nullopt;
    only = k;
  }
  return only;
}

/// The array of this name; else one that is named as data, or the only one of rows. Others are not inflated.
std::optional<std::size_t> chosen(const NpzFile& archive, const std::string& wanted) {
  if (!wanted.empty()) return find(archive, {wanted});
  const auto named = find(archive, {"x", "X", "images", "data"});
  return named ? named : only_rows(archive);
}

LabelledArray archived(std::span<const std::byte> file, const std::string& where, const std::string& wanted) {
  const NpzFile archive(file, where);
  if (find(archive, {"[Content_Types].xml", "mimetype"})) {
    refuse(where, "a spreadsheet or another document", "save the table as csv");
  }
  const std::optional<std::size_t> values = chosen(archive, wanted);
  if (!values) {
    constexpr std::size_t kNamed = 10;
    std::vector<std::string> found;
    for (const std::string& name : archive.names()) found.push_back(found.size() < kNamed ? excerpt(name) : "...");
    found.resize(std::min(found.size(), kNamed + 1));
    const std::string expected =
        wanted.empty() ? "an array named x, images or data" : fmt::format("an array named {}", wanted);
    throw DataError(
        fmt::format("{}: expected {}; found: {}; choose one with --array", where, expected, fmt::join(found, ", ")));
  }
  const std::optional<std::size_t> labels = find(archive, {"y", "labels"});
  LabelledArray out{archive.array(*values), {}};
  if (!labels || labels == values) return out;
  Array found = archive.array(*labels);
  // An array that the user has named need not be the one that the labels belong to.
  const bool theirs = wanted.empty() || (!out.values.shape.empty() && found.size() == out.values.shape[0]);
  if (theirs) out.labels = std::move(found);
  return out;
}

/// gzip is read around idx, as MNIST has it, and around what R writes.
Contents gzipped(std::span<const std::byte> file, const std::string& where, Missing missing) {
  const std::vector<std::byte> head = MaybeGzip(file, where).take(4, "the first bytes");
  const std::string_view text = as_text(head);
  if (is_rdata(text)) return parse_rdata(file, where, missing);
  if (text.starts_with("\0\0"sv)) return LabelledArray{parse_idx(file, where), {}};
  refuse(where, "gzip of something else than idx or data of R", "unpack it first (gunzip)");
}

/// All pictures of a folder as one array [pictures, height, width].
LabelledArray read_pictures(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code failure;
  const std::filesystem::directory_iterator entries(folder, failure);
  if (failure) throw NoInputError(fmt::format("cannot read {}: {}", folder.string(), failure.message()));
  for (const auto& entry : entries) {
    if (entry.path().extension() == ".png" || entry.path().extension() == ".PNG") files.push_back(entry.path());
  }
  if (files.empty()) throw NoInputError(fmt::format("{}: a folder without PNG pictures", folder.string()));
  std::ranges::sort(files);
  Array out{ElementType::kUInt8, {files.size(), 0, 0}, {}};
  for (const auto& file : files) {
    const Image image = decode_png(read_file(file), file.string());
    if (&file == &files[0]) {
      out.shape = {files.size(), image.height, image.width};
    } else if (image.height != out.shape[1] || image.width != out.shape[2]) {
      throw DataError(fmt::format("{}: expected a picture of {}x{}, as {} is; found {}x{}", file.string(), out.shape[1],
                                  out.shape[2], files[0].filename().string(), image.height, image.width));
    }
    append(out.bytes, std::as_bytes(std::span(image.pixels)));
  }
  return {std::move(out), {}};
}

}  // namespace

Contents contents_of(std::span<const std::byte> file, const std::string& where, const std::string& array,
                     Missing missing) {
  std::string_view text = as_text(file);
  require(array.empty() || text.starts_with("PK\x03\x04"),
          fmt::format("{}: --array chooses an array of an npz file, and this is none", where));
  if (text.starts_with("\x93NUM")) return LabelledArray{parse_npy(file, where), {}};
  if (text.starts_with("PK\x03\x04")) return archived(file, where, array);
  if (is_gzip(file)) return gzipped(file, where, missing);
  if (is_rdata(text)) return parse_rdata(file, where, missing);
  if (text.size() >= 4 && text.starts_with("\0\0"sv) && text[2] >= 0x08 && text[3] >= 1 && text[3] < 0x20) {
    return LabelledArray{parse_idx(file, where), {}};
  }
  refuse_foreign(text, where);
  text = without_byte_order_mark(text);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));  // blank lines mean nothing
  if (text.starts_with('>')) return parse_fasta(file, where);
  if (is_stockholm(text)) return parse_stockholm(file, where);
  if (is_clustal(text)) return parse_clustal(file, where);
  if (is_nameless_sequence(text)) {
    refuse(where, "text that looks like sequences without names", "put a line such as \">name\" before each of them");
  }
  return parse_csv(file, where, missing);
}

Contents read_contents(const std::filesystem::path& path, const std::string& array, Missing missing) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return read_pictures(path);
  return contents_of(read_file(path), path.string(), array, missing);
}

}  // namespace ergodic
