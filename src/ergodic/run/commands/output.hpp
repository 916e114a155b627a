// Where results go: looked at before the work begins, so that hours are not lost to a mistyped name.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "ergodic/core/matrix.hpp"
#include "ergodic/machine/model_file.hpp"
#include "ergodic/model/layer.hpp"

namespace ergodic {

/// IoError unless a file could be written there; nothing is written. An empty path is fine.
void require_writable(const std::filesystem::path& path);

/// UsageError if two of these options name the same file, so that a result would replace another, or the data that it
/// is made from; empty paths do not count.
void require_distinct(const std::vector<std::pair<std::string, std::filesystem::path>>& options);

bool is_picture(const std::filesystem::path& out);
/// UsageError, naming the option, unless the file that it names has one of these endings, such as ".npy"; then IoError
/// unless it can be written. An empty path is fine.
void require_ending(const std::string& option, const std::filesystem::path& out,
                    const std::vector<std::string>& endings);

/// Numbers with a name for each column: an array (.npy), or a table whose first line has the names (.csv), where NaN is
/// an empty field.
void write_table(const std::filesystem::path& out, const std::vector<std::string>& names, const Matrix<double>& values);
void write_table(const std::filesystem::path& out, const std::vector<std::string>& names, const Matrix<float>& values);

/// What rows of visible values are.
enum class RowValues { kDrawn, kMeans };
/// How rows of visible values are written.
struct RowsFile {
  Layer visible;
  RowValues what = RowValues::kDrawn;
  std::vector<std::string> names{};       ///< of the sites, or empty
  std::string alphabet{};                 ///< of their letters, if they are an alignment's
  std::vector<std::size_t> dimensions{};  ///< of an array, in place of that of the rows; empty: that of the rows
};
/// With what a model file says of its units.
RowsFile rows_file(const ModelFile& file, RowValues what);

/// UsageError for sequences (.fasta) of units that are not the letters of an alignment, or of means.
void require_rows_file(const std::filesystem::path& out, const RowsFile& file);
/// Rows of visible values, which are given in [0, 1] unless they are real, as --data reads them back (docs/format.md,
/// "Values of units in files"): an array (.npy), a table (.csv) or sequences (.fasta).
void write_rows(const std::filesystem::path& out, const Matrix<float>& values, const RowsFile& file);

}  // namespace ergodic
