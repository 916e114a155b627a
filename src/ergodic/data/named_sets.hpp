// The data sets that are known by name: those made on the spot, and those of the catalogue. Whatever lists, completes
// or loads a name takes it from here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ergodic/data/catalogue.hpp"
#include "ergodic/data/dataset.hpp"

namespace ergodic {

/// How a set is made. N, as in "name:N", is its number of rows or the side of its pictures.
struct Recipe {
  Dataset (*make)(std::size_t n, std::uint8_t stream);  ///< streams are independent
  std::size_t n;                                        ///< the default
  std::size_t lowest, highest;                          ///< the range of N
  bool has_test = false;  ///< N counts rows, and there is a test part of a tenth as many, at least 10
  bool real =
      false;  ///< whether its values are real; others are bits or grey levels, which machines may take as numbers
};

struct NamedSet {
  std::string name;
  std::string description;
  std::optional<Recipe> recipe{};             ///< for a set that is made
  const CatalogueEntry* catalogue = nullptr;  ///< for a set that is fetched

  /// How it is asked for: "name:N", or "name".
  std::string written() const { return recipe ? name + ":N" : name; }
  /// Whether it can be loaded without being fetched first.
  bool here() const { return recipe || is_fetched(*catalogue); }
};

/// Sets that are made, then those of the catalogue.
const std::vector<NamedSet>& named_sets();

struct ChosenSet {
  const NamedSet* set;
  std::size_t n;  ///< if it is made
};

/// The set that is meant by "name" or "name:N", if there is one of that name. UsageError if N is out of its range.
std::optional<ChosenSet> find_named_set(const std::string& source);

}  // namespace ergodic
