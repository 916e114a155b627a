#include "ergodic/format/safetensors_header.hpp"

#include <gtest/gtest.h>

#include "format/damage.hpp"

namespace ergodic {
namespace {

using namespace std::string_literals;

TensorsHeader parse(std::string_view json) { return parse_tensors_header(json, 8, "f"); }
std::string refused(std::string_view json) {
  return refusal([&] { parse(json); });
}

TEST(TensorsHeader, ReadsEntriesInTheirOrderAndMetadata) {
  const auto header = parse(R"({"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"__metadata__":{"k":"v"},
                               "b":{"data_offsets":[24,25],"shape":[],"dtype":"BOOL"}}   )");
  ASSERT_EQ(header.entries.size(), 2u);
  EXPECT_EQ(header.entries[0].name, "w");
  EXPECT_EQ(header.entries[0].type, ElementType::kFloat32);
  EXPECT_EQ(header.entries[0].shape, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(header.entries[1].begin, 24u);
  EXPECT_EQ(header.entries[1].end, 25u);
  EXPECT_EQ(header.metadata, (std::map<std::string, std::string>{{"k", "v"}}));
  EXPECT_TRUE(parse("{}").entries.empty());
}

TEST(TensorsHeader, WhatIsWrittenIsRead) {
  TensorsHeader header;
  header.metadata = {{"quote \" and \\", "line\nbreak"}, {"\xc3\xa9", ""}};
  std::size_t end = 0;
  for (const Array& array : arrays_of_all_types()) {
    header.entries.push_back({name_of(array.type), array.type, array.shape, end, end + array.bytes.size()});
    end += array.bytes.size();
  }
  const auto read = parse(encode_tensors_header(header));
  EXPECT_EQ(read.metadata, header.metadata);
  ASSERT_EQ(read.entries.size(), header.entries.size());
  for (std::size_t i = 0; i < header.entries.size(); ++i) {
    EXPECT_EQ(read.entries[i].name, header.entries[i].name);
    EXPECT_EQ(read.entries[i].type, header.entries[i].type);
    EXPECT_EQ(read.entries[i].shape, header.entries[i].shape);
    EXPECT_EQ(read.entries[i].end, header.entries[i].end);
  }
  EXPECT_EQ(encode_tensors_header({}), "{}");
}

TEST(TensorsHeader, TextThatIsNotUtf8CannotBeWritten) {
  EXPECT_THROW(encode_tensors_header({{}, {{"k", "\xff"}}}), UsageError);
}

TEST(TensorsHeader, RefusesWhatDoesNotBelong) {
  for (const std::string& json : {
           R"([])"s,
           R"( {})"s,
           R"({"w":1})"s,
           R"({"w":[]})"s,
           R"({"w":null})"s,
           R"({"w":{}})"s,
           R"({"w":{"dtype":"F32","shape":[1]}})"s,
           R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"more":1}})"s,
           R"({"w":{"dtype":1,"shape":[1],"data_offsets":[0,4]}})"s,
           R"({"w":{"dtype":["F32"],"shape":[1],"data_offsets":[0,4]}})"s,
           R"({"w":{"dtype":"F32","shape":1,"data_offsets":[0,4]}})"s,
           R"({"w":{"dtype":"F32","shape":{},"data_offsets":[0,4]}})"s,
           R"({"w":{"dtype":"F32","shape":[[1]],"data_offsets":[0,4]}})"s,
           R"({"w":{"dtype":"F32","shape":["1"],"data_offsets":[0,4]}})"s,
           R"({"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})"s,
           R"({"w":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})"s,
           R"({"w":{"dtype":"F32","shape":[true],"data_offsets":[0,4]}})"s,
           R"({"w":{"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,4]}})"s,
           R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0]}})"s,
           R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4,8]}})"s,
           R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})"s,
           R"({"__metadata__":{"k":1}})"s,
           R"({"__metadata__":{"k":{}}})"s,
           R"({"__metadata__":[]})"s,
           R"({"__metadata__":"text"})"s,
           R"({} {})"s,
           R"({},)"s,
           "{}\0"s,
           "{}\0{}"s,
           "{\"\xff\":1}"s,
       }) {
    EXPECT_THROW(parse(json), DataError) << json;
  }
}

TEST(TensorsHeader, KeysMustBeUnique) {
  const std::string entry = R"({"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  EXPECT_EQ(refused("{\"w\":" + entry + ",\"w\":" + entry + "}"), "f: byte 8: header: the key \"w\" is there twice");
  EXPECT_THROW(parse("{\"w\":" + entry + ",\"\\u0077\":" + entry + "}"), DataError);
  EXPECT_THROW(parse(R"({"w":{"dtype":"F32","dtype":"F32","shape":[0],"data_offsets":[0,0]}})"), DataError);
  EXPECT_THROW(parse(R"({"__metadata__":{"a":"1","a":"1"}})"), DataError);
  EXPECT_THROW(parse(R"({"__metadata__":{},"__metadata__":{}})"), DataError);
}

TEST(TensorsHeader, MessagesNameTheTensorAndWhatWasFound) {
  EXPECT_EQ(refused(R"({"w":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}})"),
            "f: byte 8: header, tensor \"w\": expected dtype BOOL, U8 to U64, I8 to I64, F32 or F64, found \"BF16\"; "
            "convert the array");
  EXPECT_EQ(refused(R"({"w":{"dtype":"F32","shape":7}})"),
            "f: byte 8: header, tensor \"w\": expected an array of whole numbers as shape, found 7");
  EXPECT_LT(refused(R"({"w":{"dtype":"F32","shape":[0.)" + std::string(1000, '1') + "]}}").size(), 200u);
  EXPECT_EQ(refused(R"({"w":!)"), "f: byte 13: the header is not valid JSON near \"\"w\":!\"; the file is damaged");
}

TEST(TensorsHeader, DeepAndLongJsonIsRefusedEarly) {
  EXPECT_THROW(parse("{" + std::string(1000000, '[')), DataError);
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "{\"a\":";
  EXPECT_THROW(parse(deep), DataError);
  std::string axes = "{\"w\":{\"shape\":[0";
  for (int i = 0; i < 100000; ++i) axes += ",0";
  EXPECT_THROW(parse(axes), DataError);
}

}  // namespace
}  // namespace ergodic
