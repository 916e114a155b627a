// `ergodic data`: list the named sets, bring one to this machine, look at any.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/data/named_sets.hpp"
#include "ergodic/run/data_request.hpp"

namespace ergodic {

/// All named sets, and whether they are here: made on the spot, or already fetched.
std::string json_of_named_sets();
std::string text_of_named_sets();

struct FetchedSet {
  std::string name;
  std::filesystem::path folder;
};

/// Brings a set of the catalogue into the cache, if it is not there. UsageError if there is none of that name.
FetchedSet get_data(const std::string& name);
std::string to_json(const FetchedSet& set);

struct ShowRequest {
  DataOptions data;
  Split split = Split::kTrain;
  std::uint64_t count = 100;
  std::filesystem::path out;

  Spec spec();
};

struct ShowResult {
  std::string name;
  std::size_t rows = 0, units = 0;
  PictureShape shape;
  double mean = 0.0;                   ///< share of bits that are on
  std::vector<std::size_t> labels;     ///< how many rows have label 0, 1, ...; empty without labels
  std::size_t bytes = 0;               ///< that the set takes in memory
  std::size_t sites = 0, letters = 0;  ///< of categorical data, else 0
  double effective_rows = 0.0;         ///< the sum of the rows' weights
  std::size_t missing = 0;             ///< values, of categorical data sites
};

/// Describes a data set, and draws its first rows if --out is given.
ShowResult show_data(const ShowRequest& request);

std::string to_json(const ShowResult& result);
std::string to_text(const ShowResult& result);

}  // namespace ergodic
