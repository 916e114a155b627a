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

Array NpzFile::array(std::size_t number) const {
  const ZipMember& member = members_[number];
  const std::string inside = fmt::format("{}: member {}", where_, excerpt(member.name));
  return parse_npy(extract(member, inside), inside);
}

}  // namespace ergodic
