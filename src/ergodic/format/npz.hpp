// npz: named arrays in one file; a zip archive whose members are npy files (numpy.savez; PKWARE APPNOTE 6.3, zip64).
//
// Members may be stored or deflated; see zip.hpp for what is checked.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ergodic/format/array.hpp"

namespace ergodic {

/// Names without their ".npy", in the order of the archive.
using NamedArrays = std::vector<std::pair<std::string, Array>>;

/// `where` names the file in messages.
NamedArrays parse_npz(std::span<const std::byte> file, const std::string& where);

}  // namespace ergodic
