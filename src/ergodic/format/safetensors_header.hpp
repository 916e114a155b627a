// The JSON header of a safetensors file (see safetensors.hpp), read strictly.
//
//   {"__metadata__": {"key": "value"}, "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
//
// Read event by event, never as a document: what does not belong is refused where it stands, so that neither depth
// nor length of hostile JSON costs memory. Keys must be unique, fields complete, and no others may be there.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ergodic/format/array.hpp"

namespace ergodic {

/// The one key of the header that is not an array's name.
inline constexpr std::string_view kMetadataKey = "__metadata__";

/// Where an array lies: [begin, end) counted from the first byte after the header.
struct TensorEntry {
  std::string name;
  ElementType type = ElementType::kFloat32;
  std::vector<std::size_t> shape;
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct TensorsHeader {
  std::vector<TensorEntry> entries;  ///< in the order of the file
  std::map<std::string, std::string> metadata;
};

/// `json` begins at byte `begin` of the file that `where` names. Offsets are not yet held against shapes or the file.
TensorsHeader parse_tensors_header(std::string_view json, std::size_t begin, const std::string& where);

std::string encode_tensors_header(const TensorsHeader& header);

}  // namespace ergodic
