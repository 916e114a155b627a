#include "ergodic/format/idx.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <vector>

#include "ergodic/format/bytes.hpp"
#include "ergodic/format/inflate.hpp"

namespace ergodic {
namespace {

std::optional<ElementType> type_of(std::uint8_t code) {
  switch (code) {
    case 0x08:
      return ElementType::kUInt8;
    case 0x09:
      return ElementType::kInt8;
    case 0x0b:
      return ElementType::kInt16;
    case 0x0c:
      return ElementType::kInt32;
    case 0x0d:
      return ElementType::kFloat32;
    case 0x0e:
      return ElementType::kFloat64;
    default:
      return std::nullopt;
  }
}

}  // namespace

Array parse_idx(std::span<const std::byte> bytes, const std::string& where) {
  MaybeGzip file(bytes, where);
  const auto magic = file.take(4, "the IDX signature");
  const auto code = std::to_integer<std::uint8_t>(magic[2]);
  const auto axes = std::to_integer<std::size_t>(magic[3]);
  const auto type = type_of(code);
  if (magic[0] != std::byte{0} || magic[1] != std::byte{0} || !type || axes == 0 || axes > kMaxAxes) {
    fail_at(
        where, 0,
        fmt::format("expected 00 00, a type (08 09 0b 0c 0d 0e) and 1 to {} axes, found {}; this is not an IDX file",
                    kMaxAxes, excerpt(as_text(magic))));
  }
  const auto extents = file.take(4 * axes, "the IDX shape");
  ByteReader reader(extents, where);
  Array array{*type, {}, {}};
  for (std::size_t axis = 0; axis < axes; ++axis) {
    array.shape.push_back(reader.integer<std::uint32_t>(ByteOrder::kBig, "the IDX shape"));
  }
  const auto count = byte_count(array.type, array.shape);
  if (!count) fail_at(where, 4, fmt::format("the shape {} overflows; the file is damaged", shape_text(array.shape)));
  array.bytes =
      file.take(*count, fmt::format("the {} elements of shape {}", name_of(array.type), shape_text(array.shape)));
  reverse_elements(array.bytes, size_of(array.type));
  file.finish("the elements that the IDX shape declares");
  return array;
}

}  // namespace ergodic
