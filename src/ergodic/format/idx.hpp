// IDX: one array, the format of MNIST's files (LeCun, Cortes and Burges, "The MNIST database", 1998), plain or gzipped.
//
//   0 0 type axes   then each extent in 4 bytes   then the elements in C order; all big-endian
//   types: 08 uint8, 09 int8, 0b int16, 0c int32, 0d float32, 0e float64
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "ergodic/format/array.hpp"

namespace ergodic {

/// A gzipped file is recognised by its first two bytes (1f 8b). `where` names the file in messages.
Array parse_idx(std::span<const std::byte> file, const std::string& where);

}  // namespace ergodic
