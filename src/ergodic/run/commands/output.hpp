// Where results go: looked at before the work begins, so that hours are not lost to a mistyped name.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "ergodic/core/matrix.hpp"
#include "ergodic/model/layer.hpp"

namespace ergodic {

/// IoError unless a file could be written there; nothing is written. An empty path is fine.
void require_writable(const std::filesystem::path& path);

/// UsageError if two of these options name the same file; empty paths do not count.
void require_distinct(const std::vector<std::pair<std::string, std::filesystem::path>>& options);

bool is_picture(const std::filesystem::path& out);
/// UsageError unless the name has one of these endings, such as ".npy"; then IoError unless it can be written.
void require_ending(const std::filesystem::path& out, const std::vector<std::string>& endings);

/// Numbers with a name for each column: an array of doubles (.npy), or a table whose first line has the names (.csv).
void write_table(const std::filesystem::path& out, const std::vector<std::string>& names, const Matrix<double>& values);

/// What rows of visible values are.
enum class RowValues { kDrawn, kMeans };
/// UsageError for sequences (.fasta) of units that are not the letters of an alignment, or of means.
void require_rows_file(const std::filesystem::path& out, const std::string& alphabet, RowValues what);
/// Rows of visible values, which are given in [0, 1] unless they are real, as --data reads them back (docs/format.md,
/// "Values of units in files"): an array (.npy), a table (.csv) or sequences (.fasta). Names are those of the sites, or
/// empty; the alphabet is that of their letters, if they are an alignment's.
void write_rows(const std::filesystem::path& out, const Layer& visible, const Matrix<float>& values, RowValues what,
                const std::vector<std::string>& names, const std::string& alphabet = {});

}  // namespace ergodic
