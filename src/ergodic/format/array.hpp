// Array: what the readers return and the writers take. A type, a shape, and the bytes in C order, little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ergodic {

enum class ElementType : std::uint8_t {
  kBool,
  kUInt8,
  kInt8,
  kUInt16,
  kInt16,
  kUInt32,
  kInt32,
  kUInt64,
  kInt64,
  kFloat32,
  kFloat64,
};

std::size_t size_of(ElementType type);
const char* name_of(ElementType type);

/// What a reader makes of a value that is not there.
enum class Missing { kRefused, kAllowed };

struct Array {
  ElementType type = ElementType::kFloat32;
  std::vector<std::size_t> shape;
  std::vector<std::byte> bytes;

  std::size_t size() const;  ///< number of elements: the product of the shape
};

}  // namespace ergodic
