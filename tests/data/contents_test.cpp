#include "ergodic/data/contents.hpp"

#include <gtest/gtest.h>

#include <string_view>

#include "data/error_message.hpp"
#include "ergodic/format/file.hpp"
#include "ergodic/format/npy.hpp"
#include "ergodic/format/png.hpp"
#include "format/damage.hpp"
#include "format/npz_writer.hpp"

namespace ergodic {
namespace {

using namespace std::string_view_literals;

std::filesystem::path written(std::string_view text) {
  const auto path = fresh_path("file");
  write_file(path, bytes_from(text));
  return path;
}

Contents contents(const std::filesystem::path& path, const std::string& array = "") {
  return read_contents(path, array, Missing::kRefused);
}

Array numbers(std::vector<std::size_t> shape, std::vector<double> values) {
  return array_of<double>(ElementType::kFloat64, std::move(shape), values);
}

TEST(Contents, AlignmentsAreKnownByTheirFirstBytes) {
  for (const std::string text :
       {">a\nAC\n>b\nGT\n", "# STOCKHOLM 1.0\na AC\nb GT\n//\n", "CLUSTAL W\n\na AC 2\nb GT 2\n"}) {
    for (const std::string mark : {"", "\xef\xbb\xbf", "\r\n \n"}) {
      const auto sequences = std::get<std::vector<NamedSequence>>(contents(written(mark + text)));
      ASSERT_EQ(sequences.size(), 2u) << text;
      EXPECT_EQ(sequences[1].name, "b");
      EXPECT_EQ(sequences[1].letters, "GT");
    }
  }
}

TEST(Contents, FormatsThatAreNotReadSayWhatTheyAre) {
  const auto refused = [](std::string_view text) { return refusal([&] { contents(written(text)); }); };
  expect_parts(refused("\x89PNG\r\n\x1a\n..."sv), {"a PNG picture", "folder"});
  expect_parts(refused("\x89HDF\r\n\x1a\n..."sv), {"HDF5", "npy"});
  expect_parts(refused("\x50\0\0\0\0\0\0\0{\"__metadata__\":{}}"sv), {"safetensors"});
  expect_parts(refused("PAR1...."sv), {"Parquet", "csv"});
  expect_parts(refused("RDA2\nA\n2\n"sv), {"R", "ascii"});
  expect_parts(refused("ACDEFGHIKL\nACDEFGHI-L\n"), {"sequences without names", ">name"});
  // gzip of the text "1,2\n"
  expect_parts(
      refused("\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x33\xd4\x31\xe2\x02\x00\x33\x42\x21\x55\x04\x00\x00\x00"sv),
      {"gunzip"});
}

/// A data frame of one column of two numbers, as saveRDS(data.frame(x = c(1, 2)), version = 2, compress = FALSE) has
/// it.
TEST(Contents, DataFramesOfRAreTables) {
  const auto text = [](std::string_view word) {
    return std::string("\0\0\0\x09\0\0\0"sv) + static_cast<char>(word.size()) + std::string(word);
  };
  const auto pair = [&](std::string_view name, std::string_view word) {
    return std::string("\0\0\x04\x02\0\0\0\x01"sv) + text(name) + std::string("\0\0\0\x10\0\0\0\x01"sv) + text(word);
  };
  const std::string file = std::string(
                               "X\n\0\0\0\x02\0\x04\x02\x01\0\x02\x03\0\0\0\x03\x13\0\0\0\x01"
                               "\0\0\0\x0e\0\0\0\x02\x3f\xf0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0"sv) +
                           pair("names", "x") + pair("class", "data.frame") + std::string("\0\0\0\xfe"sv);
  const Contents found = contents_of(bytes_from(file), "t.rds", "", Missing::kRefused);
  const auto* table = std::get_if<CsvTable>(&found);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->columns[0].name, "x");
  EXPECT_EQ(table->numbers, (std::vector<double>{1, 2}));
}

TEST(Contents, AnArrayOfAnArchiveIsChosen) {
  const auto path = fresh_path("x.npz");
  const auto chosen = [&](const std::string& name) {
    return elements_of<double>(std::get<LabelledArray>(contents(path, name)).values);
  };
  write_npz(path, {{"arr_0", numbers({1, 2}, {1, 2})}, {"arr_1", numbers({1}, {3})}});
  EXPECT_EQ(chosen(""), (std::vector<double>{1, 2}));  // the only one of rows
  write_npz(path, {{"arr_0", numbers({1, 2}, {1, 2})}, {"arr_1", numbers({1, 2}, {3, 4})}});
  expect_parts(refusal([&] { chosen(""); }), {"found: \"arr_0\", \"arr_1\"", "--array"});
  EXPECT_EQ(chosen("arr_1"), (std::vector<double>{3, 4}));
  expect_parts(refusal([&] { chosen("arr_2"); }), {"an array named arr_2", "\"arr_0\", \"arr_1\""});
  write_npy(path, numbers({1, 2}, {1, 2}));
  expect_parts(message_of<UsageError>([&] { chosen("x"); }), {"--array", "npz"});
}

TEST(Contents, OtherArraysOfAnArchiveNeedNotBeReadable) {
  const auto path = fresh_path("x.npz");
  const auto words = bytes_from("\x93NUMPY\1\0\x3a\0{'descr': '<U3', 'fortran_order': False, 'shape': (2,), }\n"sv);
  write_file(path, encode_zip({{"names.npy", words}, {"table.npy", encode_npy(numbers({1, 2}, {1, 2}))}}));
  EXPECT_EQ(elements_of<double>(std::get<LabelledArray>(contents(path)).values), (std::vector<double>{1, 2}));
}

TEST(Contents, LabelsOfAnotherArrayAreLeftOut) {
  const auto path = fresh_path("x.npz");
  write_npz(path, {{"x", numbers({2, 1}, {0, 1})}, {"y", numbers({2}, {4, 5})}, {"more", numbers({3, 1}, {1, 0, 1})}});
  EXPECT_TRUE(std::get<LabelledArray>(contents(path)).labels);
  EXPECT_TRUE(std::get<LabelledArray>(contents(path, "x")).labels);
  EXPECT_FALSE(std::get<LabelledArray>(contents(path, "more")).labels);
}

TEST(Contents, ASpreadsheetIsKnown) {
  for (const auto* member : {"[Content_Types].xml", "mimetype"}) {
    const auto path = fresh_path("x.xlsx");
    write_file(path, encode_zip({{member, bytes_from("<?xml")}, {"xl/workbook.xml", bytes_from("<?xml")}}));
    expect_parts(refusal([&] { contents(path); }), {"spreadsheet", "csv"});
  }
}

TEST(Contents, AFolderOfPicturesIsAnArray) {
  const auto first = fresh_path("b.png");
  write_png(first, {2, 1, 1, {10, 20}});
  write_png(first.parent_path() / "a.png", {2, 1, 3, {0, 0, 0, 255, 255, 255}});
  write_file(first.parent_path() / "notes.txt", bytes_from("not a picture"));
  const Array array = std::get<LabelledArray>(contents(first.parent_path())).values;
  EXPECT_EQ(array.type, ElementType::kUInt8);
  EXPECT_EQ(array.shape, (std::vector<std::size_t>{2, 1, 2}));
  EXPECT_EQ(elements_of<std::uint8_t>(array), (std::vector<std::uint8_t>{0, 255, 10, 20}));  // by name
  write_png(first.parent_path() / "c.png", {1, 1, 1, {5}});
  expect_parts(refusal([&] { contents(first.parent_path()); }), {"c.png", "1x2", "found 1x1"});
}

TEST(Contents, AFolderWithoutPicturesIsNoInput) {
  const auto folder = fresh_path("x").parent_path();
  expect_parts(message_of<NoInputError>([&] { contents(folder); }), {"without PNG pictures"});
}

}  // namespace
}  // namespace ergodic
