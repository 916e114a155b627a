#include "ergodic/format/array.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ergodic {
namespace {

TEST(Array, SizeIsTheProductOfTheShape) {
  EXPECT_EQ((Array{ElementType::kUInt8, {2, 3, 4}, {}}).size(), 24u);
  EXPECT_EQ((Array{ElementType::kUInt8, {}, {}}).size(), 1u);
  EXPECT_EQ((Array{ElementType::kUInt8, {5, 0}, {}}).size(), 0u);
}

TEST(Array, NamesTellTheSizeInBits) {
  EXPECT_STREQ(name_of(ElementType::kBool), "bool");
  EXPECT_EQ(size_of(ElementType::kBool), 1u);
  for (int code = 1; code <= static_cast<int>(ElementType::kFloat64); ++code) {
    const auto type = static_cast<ElementType>(code);
    const std::string name = name_of(type);
    EXPECT_EQ(name.substr(name.find_first_of("123468")), std::to_string(8 * size_of(type)));
  }
}

}  // namespace
}  // namespace ergodic
