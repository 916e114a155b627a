// npz: named arrays in one file; a zip archive whose members are npy files (numpy.savez; PKWARE APPNOTE 6.3, zip64).
//
// Members may be stored or deflated; see zip.hpp for what is checked. Only those that are asked for are inflated.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "ergodic/format/array.hpp"
#include "ergodic/format/zip.hpp"

namespace ergodic {

class NpzFile {
 public:
  /// `where` names the file in messages. The bytes must outlive this. DataError if two members have one name.
  NpzFile(std::span<const std::byte> file, std::string where);

  /// Without their ".npy", in the order of the archive.
  const std::vector<std::string>& names() const { return names_; }
  /// The shape of an array, of which no more than the header is inflated; its type may be one that is not read.
  std::vector<std::size_t> shape(std::size_t number) const;
  /// The array of the name of this number, inflated and verified.
  Array array(std::size_t number) const;

 private:
  std::string where_inside(std::size_t number) const;

  std::string where_;
  std::vector<ZipMember> members_;
  std::vector<std::string> names_;
};

}  // namespace ergodic
