#include "ergodic/format/npz.hpp"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "ergodic/format/bytes.hpp"
#include "ergodic/format/npy.hpp"
#include "ergodic/format/zip.hpp"

namespace ergodic {
namespace {

constexpr std::string_view kSuffix = ".npy";

}  // namespace

NamedArrays parse_npz(std::span<const std::byte> file, const std::string& where) {
  NamedArrays arrays;
  std::set<std::string> names;
  for (const ZipMember& member : parse_zip(file, where)) {
    std::string name = member.name;
    if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
    if (!names.insert(name).second) {
      fail_at(where, member.offset, fmt::format("a second array is named {}", excerpt(name)));
    }
    const std::string inside = fmt::format("{}: member {}", where, excerpt(member.name));
    arrays.emplace_back(std::move(name), parse_npy(extract(member, inside), inside));
  }
  return arrays;
}

}  // namespace ergodic
