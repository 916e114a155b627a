// Array: what the readers return and the writers take. A type, a shape, and the bytes in C order, little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
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

/// The type whose elements are T in memory.
template <class T>
constexpr ElementType element_type_of() {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8);
  if constexpr (std::is_same_v<T, bool>) return ElementType::kBool;
  if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? ElementType::kFloat32 : ElementType::kFloat64;
  if constexpr (sizeof(T) == 1) return std::is_signed_v<T> ? ElementType::kInt8 : ElementType::kUInt8;
  if constexpr (sizeof(T) == 2) return std::is_signed_v<T> ? ElementType::kInt16 : ElementType::kUInt16;
  if constexpr (sizeof(T) == 4) return std::is_signed_v<T> ? ElementType::kInt32 : ElementType::kUInt32;
  return std::is_signed_v<T> ? ElementType::kInt64 : ElementType::kUInt64;
}

/// What a reader makes of a value that is not there.
enum class Missing { kRefused, kAllowed };

struct Array {
  ElementType type = ElementType::kFloat32;
  std::vector<std::size_t> shape;
  std::vector<std::byte> bytes;

  std::size_t size() const;  ///< number of elements: the product of the shape
};

}  // namespace ergodic
