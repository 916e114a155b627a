#include "ergodic/format/array.hpp"

#include <cassert>

namespace ergodic {

std::size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::kBool:
    case ElementType::kUInt8:
    case ElementType::kInt8:
      return 1;
    case ElementType::kUInt16:
    case ElementType::kInt16:
      return 2;
    case ElementType::kUInt32:
    case ElementType::kInt32:
    case ElementType::kFloat32:
      return 4;
    case ElementType::kUInt64:
    case ElementType::kInt64:
    case ElementType::kFloat64:
      return 8;
  }
  assert(false && "an ElementType outside its enumeration");
  return 0;
}

const char* name_of(ElementType type) {
  switch (type) {
    case ElementType::kBool:
      return "bool";
    case ElementType::kUInt8:
      return "uint8";
    case ElementType::kInt8:
      return "int8";
    case ElementType::kUInt16:
      return "uint16";
    case ElementType::kInt16:
      return "int16";
    case ElementType::kUInt32:
      return "uint32";
    case ElementType::kInt32:
      return "int32";
    case ElementType::kUInt64:
      return "uint64";
    case ElementType::kInt64:
      return "int64";
    case ElementType::kFloat32:
      return "float32";
    case ElementType::kFloat64:
      return "float64";
  }
  assert(false && "an ElementType outside its enumeration");
  return "";
}

std::size_t Array::size() const {
  std::size_t product = 1;
  for (const std::size_t extent : shape) product *= extent;
  return product;
}

}  // namespace ergodic
