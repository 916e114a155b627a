#include "ergodic/format/npz.hpp"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <utility>

#include "ergodic/format/bytes.hpp"
#include "ergodic/format/npy.hpp"

namespace ergodic {
namespace {

constexpr std::string_view kSuffix = ".npy";

}  // namespace

NpzFile::NpzFile(std::span<const std::byte> file, std::string where)
    : where_(std::move(where)), members_(parse_zip(file, where_)) {
  std::set<std::string> seen;
  for (const ZipMember& member : members_) {
    std::string name = member.name;
    if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
    if (!seen.insert(name).second) {
      fail_at(where_, member.offset, fmt::format("a second array is named {}", excerpt(name)));
    }
    names_.push_back(std::move(name));
  }
}

std::string NpzFile::where_inside(std::size_t number) const {
  return fmt::format("{}: member {}", where_, excerpt(members_[number].name));
}

std::vector<std::size_t> NpzFile::shape(std::size_t number) const {
  const std::string inside = where_inside(number);
  return npy_shape(extract_start(members_[number], kLongestNpyStart, inside), inside);
}

Array NpzFile::array(std::size_t number) const {
  const std::string inside = where_inside(number);
  return parse_npy(extract(members_[number], inside), inside);
}

}  // namespace ergodic
