#include "ergodic/run/commands/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <span>

#include "ergodic/core/error.hpp"
#include "ergodic/data/alignment.hpp"
#include "ergodic/format/csv.hpp"
#include "ergodic/format/fasta.hpp"
#include "ergodic/format/npy.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/store/tensors.hpp"

namespace ergodic {
namespace {

constexpr char kFasta[] = ".fasta";

/// The values of units as they are written: spins are -1 and 1.
Matrix<float> values_in_file(const Layer& visible, Matrix<float> values) {
  if (real_valued(visible)) return values;
  const Levels levels = levels_of(visible);
  for (float& value : values.elements()) value = levels.low + (levels.high - levels.low) * value;
  return values;
}

/// A number for each site: the place of its letter, or the value of a lone unit.
Matrix<float> letters_in(const Layer& visible, const Matrix<float>& values) {
  const std::vector<Site> all = sites(visible);
  Matrix<float> out(values.rows(), all.size());
  for (std::size_t r = 0; r < values.rows(); ++r) {
    for (std::size_t s = 0; s < all.size(); ++s) {
      const std::span<const float> units = values.row(r).subspan(all[s].first, all[s].size);
      out(r, s) = all[s].size == 1 ? units[0] : static_cast<float>(std::ranges::max_element(units) - units.begin());
    }
  }
  return out;
}

/// Letters as whole numbers in as few bytes as hold them, in one dimension.
Array letters_array(const Matrix<float>& letters, std::size_t count) {
  const auto as = [&]<class T>(T) {
    const std::vector<T> whole(letters.elements().begin(), letters.elements().end());
    const auto bytes = std::as_bytes(std::span(whole));
    return Array{element_type_of<T>(), {whole.size()}, {bytes.begin(), bytes.end()}};
  };
  return count <= 256 ? as(std::uint8_t{}) : as(std::uint16_t{});
}

void write_sequences(const std::filesystem::path& out, const Matrix<float>& letters, const std::string& alphabet) {
  std::vector<NamedSequence> sequences(letters.rows());
  for (std::size_t r = 0; r < letters.rows(); ++r) {
    sequences[r].name = fmt::format("sample {}", r + 1);
    for (const float letter : letters.row(r)) sequences[r].letters += alphabet[static_cast<std::size_t>(letter)];
  }
  write_fasta(out, sequences);
}

/// The first line of a table, or none if nothing has a name: a column for each site, or for each unit of it.
std::vector<std::vector<std::string>> header_for(const Layer& visible, bool by_site,
                                                 const std::vector<std::string>& names, const std::string& alphabet) {
  const std::vector<Site> all = sites(visible);
  const bool several = visible.parts() > 1;
  if (names.empty() && alphabet.empty() && !(several && by_site)) return {};
  std::vector<std::string> out;
  for (std::size_t s = 0; s < all.size(); ++s) {
    const bool label = several && all[s].size > 1;
    const std::string name = !names.empty()      ? names[s]
                             : label             ? kLabelName
                             : !alphabet.empty() ? site_name(s)
                                                 : fmt::format("unit {}", s + 1);
    for (std::size_t a = 0; a < (by_site ? 1 : all[s].size); ++a) {
      const bool whole = by_site || all[s].size == 1;
      out.push_back(
          whole ? name
                : fmt::format("{}={}", name, alphabet.empty() ? std::to_string(a) : std::string(1, alphabet[a])));
    }
  }
  return {out};
}

template <class T>
void write_numbers(const std::filesystem::path& out, const std::vector<std::string>& names, const Matrix<T>& values) {
  if (out.extension() == ".npy") return write_npy(out, array_of(values.elements(), {values.rows(), values.cols()}));
  std::vector<std::vector<std::string>> lines{names};
  for (std::size_t r = 0; r < values.rows(); ++r) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const T value : values.row(r)) line.push_back(std::isnan(value) ? "" : fmt::format("{}", value));
  }
  write_csv(out, lines);
}

}  // namespace

void require_writable(const std::filesystem::path& path) {
  if (path.empty()) return;
  std::error_code failure;
  const auto status = std::filesystem::status(path, failure);
  if (status.type() == std::filesystem::file_type::none) {
    throw IoError(fmt::format("{}: cannot be written: {}", path.string(), failure.message()));
  }
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw IoError(fmt::format("{}: is a folder or a device, expected the name of a file", path.string()));
  }
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const bool is_folder = std::filesystem::is_directory(folder, failure);
  if (!is_folder || ::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw IoError(fmt::format("{}: cannot write into the folder {}: {}", path.string(), folder.string(),
                              is_folder ? std::strerror(errno) : "no such folder"));
  }
}

void require_distinct(const std::vector<std::pair<std::string, std::filesystem::path>>& options) {
  std::map<std::filesystem::path, std::string> seen;
  for (const auto& [name, path] : options) {
    if (path.empty()) continue;
    std::error_code failure;
    const auto place = std::filesystem::weakly_canonical(std::filesystem::absolute(path, failure), failure);
    if (failure) continue;  // no file can be there, and opening it will say so
    const auto [other, is_new] = seen.emplace(place, name);
    require(is_new,
            fmt::format("{} and {} both name {}; give them different names", other->second, name, path.string()));
  }
}

void require_ending(const std::string& option, const std::filesystem::path& out,
                    const std::vector<std::string>& endings) {
  if (out.empty()) return;
  require(
      std::ranges::find(endings, out.extension().string()) != endings.end(),
      fmt::format("{}: expected a name ending in {}, found '{}'", option, fmt::join(endings, " or "), out.string()));
  require_writable(out);
}

bool is_picture(const std::filesystem::path& out) { return out.extension() == ".png"; }

void write_table(const std::filesystem::path& out, const std::vector<std::string>& names,
                 const Matrix<double>& values) {
  write_numbers(out, names, values);
}
void write_table(const std::filesystem::path& out, const std::vector<std::string>& names, const Matrix<float>& values) {
  write_numbers(out, names, values);
}

RowsFile rows_file(const ModelFile& file, RowValues what) {
  const Layer visible = file.machine->visible();
  return {visible, what, unit_names_from(file.notes, sites_of(visible)), alphabet_from(file.notes, visible)};
}

void require_rows_file(const std::filesystem::path& out, const RowsFile& file) {
  if (out.extension() != kFasta) return;
  require(!file.alphabet.empty(),
          "--out: this machine has no letters of an alignment; give a name ending in .npy or .csv");
  require(file.what == RowValues::kDrawn,
          "--out: sequences have letters, and no means; give a name ending in .npy or .csv");
}

void write_rows(const std::filesystem::path& out, const Matrix<float>& values, const RowsFile& file) {
  require_rows_file(out, file);
  const auto& [visible, what, names, alphabet, dimensions] = file;
  if (out.extension() == kFasta) return write_sequences(out, letters_in(visible, values), alphabet);
  const bool letters = data_values(visible) == UnitValues::kLetters && what == RowValues::kDrawn;
  const bool table = out.extension() == ".csv";
  const bool by_site = letters || (table && what == RowValues::kDrawn && sites_of(visible) < units_of(visible));
  const Matrix<float> cells = by_site ? letters_in(visible, values) : values_in_file(visible, values);
  if (!table) {
    Array array =
        letters ? letters_array(cells, letters_of(visible)) : array_of(cells.elements(), {cells.elements().size()});
    array.shape = dimensions.empty() ? std::vector{cells.rows()} : dimensions;
    array.shape.push_back(cells.cols());
    return write_npy(out, array);
  }
  std::vector<std::vector<std::string>> lines = header_for(visible, by_site, names, alphabet);
  for (std::size_t r = 0; r < cells.rows(); ++r) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const float value : cells.row(r)) {
      line.push_back(letters && !alphabet.empty() ? std::string(1, alphabet[static_cast<std::size_t>(value)])
                                                  : fmt::format("{}", value));
    }
  }
  write_csv(out, lines);
}

}  // namespace ergodic
