// The objects in a file of R, as they lie there: what rdata.cpp makes a table of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ergodic {

/// What an object of R is, by its number in files.
enum class RType : std::uint8_t {
  kSymbol = 1,
  kPairs = 2,
  kText = 9,
  kLogical = 10,
  kInteger = 13,
  kReal = 14,
  kStrings = 16,
  kList = 19,
  kNull = 254,
  kReference = 255,
};

struct RObject {
  using Pairs = std::vector<std::pair<std::string, RObject>>;

  RType type = RType::kNull;
  std::vector<double> numbers{};       ///< logical, integer, real; nan for NA
  std::vector<std::uint32_t> texts{};  ///< strings, by their places in the file's texts; kNaText for NA
  std::vector<RObject> members{};      ///< of a list
  Pairs pairs{};                       ///< of a list of pairs
  Pairs attributes{};

  /// The attribute of a name; null if there is none.
  const RObject* attribute(std::string_view name) const;
};

inline constexpr std::uint32_t kNaText = std::numeric_limits<std::uint32_t>::max();

struct RFile {
  RObject::Pairs objects;          ///< with the names that save() gave them; one without a name in an .rds file
  std::vector<std::string> texts;  ///< each text once, in UTF-8
};

/// Every size is held against the file, lists are no deeper and no longer than tables need; DataError otherwise, and
/// for what is no data: functions, environments, vectors that R has not written out.
RFile parse_r_objects(std::span<const std::byte> file, const std::string& where);

}  // namespace ergodic
