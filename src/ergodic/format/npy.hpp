// npy: numpy's file of one array (numpy.lib.format, versions 1.0, 2.0 and 3.0; NEP 1, 2007).
//
//   "\x93NUMPY" major minor   header length (2 bytes; 4 from version 2 on; little-endian)
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   padded with blanks
//   the elements
//
// Read: bool, integers of 8 to 64 bits, float32 and float64, in either byte order, in C or Fortran order. Others
// (complex, float16, strings, records, Python objects) are refused. Nothing in the file is ever executed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "ergodic/format/array.hpp"

namespace ergodic {

Array read_npy(const std::filesystem::path& path);
/// Version 1.0, C order, little-endian.
void write_npy(const std::filesystem::path& path, const Array& array);

/// No start of a file up to its elements is longer, as numpy writes it.
inline constexpr std::size_t kLongestNpyStart = std::size_t{1} << 17;
/// The shape that the start of a file declares, whatever the type. `where` names the file in messages.
std::vector<std::size_t> npy_shape(std::span<const std::byte> start, const std::string& where);
Array parse_npy(std::span<const std::byte> file, const std::string& where);
std::vector<std::byte> encode_npy(const Array& array);

}  // namespace ergodic
