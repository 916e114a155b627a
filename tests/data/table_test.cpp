#include "ergodic/data/table.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "format/damage.hpp"

namespace ergodic {
namespace {

using Names = std::vector<std::string>;

UnitTable read(std::string_view text, const TableOptions& options = {}, ValueKind kind = ValueKind::kBits,
               Missing missing = Missing::kRefused) {
  return units_of(parse_csv(bytes_from(text), "t.csv", missing), "t.csv", options, kind);
}

TEST(Table, NumbersTruthsAndWordsBecomeUnits) {
  const UnitTable table = read("a,old,town\n0.5,True,Utrecht\n1,FALSE,Breda\n0,t,Utrecht\n");
  EXPECT_EQ(table.notes.unit_names, (Names{"a", "old", "town=Breda", "town=Utrecht"}));
  EXPECT_EQ(table.notes.columns, (Names{"1 (a)", "2 (old)", "3 (town)", "3 (town)"}));
  EXPECT_EQ(table.rows, 3u);
  EXPECT_EQ(table.numbers, (std::vector<double>{0.5, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1}));
  EXPECT_TRUE(table.warnings.empty());
}

TEST(Table, AMissingWordIsMissingInAllItsUnits) {
  const UnitTable table = read("a,town\n1,Utrecht\n,\n0,Breda\n", {}, ValueKind::kBits, Missing::kAllowed);
  ASSERT_EQ(table.numbers.size(), 9u);
  for (const std::size_t k : {3u, 4u, 5u}) EXPECT_TRUE(std::isnan(table.numbers[k])) << k;
}

TEST(Table, ColumnsAreChosenByNameOrNumber) {
  const std::string_view text = "a,b,c,d\n1,0,1,x\n0,1,1,2\n";  // the last column will not do
  const auto names = [&](const TableOptions& options) { return read(text, options).notes.unit_names; };
  EXPECT_EQ(names({.columns = "c,a"}), (Names{"a", "c"}));
  EXPECT_EQ(names({.columns = "2"}), (Names{"b"}));
  EXPECT_EQ(names({.drop = "d,1"}), (Names{"b", "c"}));
  EXPECT_EQ(names({.label_column = "b", .drop = "d"}), (Names{"a", "c"}));
  expect_parts(refusal([&] { read(text); }), {"t.csv: line 3: column 4 (d)", "--drop"});
  expect_parts(message_of<UsageError>([&] { names({.drop = "e"}); }), {"--drop", "\"e\"", "1 (a), 2 (b)"});
  expect_parts(message_of<UsageError>([&] { names({.columns = "0"}); }), {"--columns", "\"0\""});
  expect_parts(message_of<UsageError>([&] { names({.drop = "1,2,3,4"}); }), {"no column is left"});
  expect_parts(message_of<UsageError>([&] { read("a,a\n1,0\n", {.drop = "a"}); }), {"2 columns are named \"a\""});
  EXPECT_EQ(read("1,0\n0,1\n", {.drop = "2"}).numbers, (std::vector<double>{1, 0}));
}

TEST(Table, LabelsAreWholeNumbersOrWords) {
  const UnitTable words = read("a,kind\n1,cat\n0,ant\n1,cat\n", {.label_column = "kind"});
  EXPECT_EQ(words.notes.labels, (std::vector<int>{1, 0, 1}));
  EXPECT_EQ(words.class_names, (Names{"ant", "cat"}));
  const UnitTable numbers = read("a,kind\n1,7\n0,3\n", {.label_column = "2"});
  EXPECT_EQ(numbers.notes.labels, (std::vector<int>{7, 3}));
  EXPECT_TRUE(numbers.class_names.empty());
  expect_parts(refusal([] { read("a,y\n1,7\n0,0.5\n", {.label_column = "y"}); }), {"row 2, column 2 (y)", "0.5"});
}

TEST(Table, AnIndexIsLeftOutWithAWarning) {
  for (const auto* text : {",a\n0,1\n1,0\n2,1\n", "id,a\n1,1\n2,0\n3,1\n", "Index,a\n0,1\n1,0\n2,1\n"}) {
    const UnitTable table = read(text);
    EXPECT_EQ(table.notes.unit_names, (Names{"a"})) << text;
    ASSERT_EQ(table.warnings.size(), 1u) << text;
    expect_parts(table.warnings[0], {"column 1", "left out"});
  }
  for (const auto* text : {"age,a\n0,1\n1,0\n2,1\n", "id,a\n0,1\n2,0\n3,1\n", "0,1\n1,0\n2,1\n"}) {
    const UnitTable table = read(text);
    EXPECT_EQ(table.numbers.size(), 6u) << text;
    EXPECT_TRUE(table.warnings.empty()) << text;
  }
  EXPECT_EQ(read("id,a\n1,1\n2,0\n", {.columns = "id,a"}).notes.unit_names, (Names{"id", "a"}));
}

TEST(Table, ARowOfWordsThatIsTakenForAHeaderIsWarnedOf) {
  const UnitTable table = read("Breda,x\nUtrecht,y\nBreda,x\n");
  ASSERT_EQ(table.warnings.size(), 1u);
  expect_parts(table.warnings[0], {"first line", "names"});
  EXPECT_TRUE(read("town,x\nUtrecht,y\nBreda,x\n").warnings.empty());
}

TEST(Table, ARowThatCountsTheColumnsAndIsTakenForAHeaderIsWarnedOf) {
  const UnitTable table = read("0,1,2,3,4,5,6,7\n1,0,1,0,1,0,1,0\n");
  ASSERT_EQ(table.warnings.size(), 1u);
  expect_parts(table.warnings[0], {"first line, 0, 1, 2", "names"});
  const UnitTable indexed = read(",0,1,2\n0,1,0,1\n1,0,0,0\n");
  EXPECT_EQ(indexed.notes.unit_names, (Names{"0", "1", "2"}));
  ASSERT_EQ(indexed.warnings.size(), 1u);
  expect_parts(indexed.warnings[0], {"counts the rows"});
}

TEST(Table, TooManyWordsAreRefused) {
  std::string text = "a,name\n";
  for (int k = 0; k < 51; ++k) text += "1,n" + std::to_string(k) + "\n";
  expect_parts(refusal([&] { read(text); }), {"column 2 (name)", "51 different words", "50 at most", "--drop name"});
  EXPECT_EQ(read(text, {.drop = "name"}).notes.unit_names, (Names{"a"}));
  expect_parts(refusal([] { read("a,b\n1,x\n", {}, ValueKind::kLetters); }), {"column 2 (b)", "\"x\"", "bernoulli"});
}

TEST(Table, AMachineTakesItsUnitsByName) {
  const TableOptions options{.units = {"town=Breda", "town=Utrecht", "a"}};
  EXPECT_EQ(read("x,a,town\nword,1,Utrecht\nother,0,Utrecht\n", options).numbers,
            (std::vector<double>{0, 1, 1, 0, 1, 0}));
  EXPECT_EQ(read("a,town=Utrecht,town=Breda\n1,1,0\n", options).numbers, (std::vector<double>{0, 1, 1}));
  expect_parts(refusal([&] { read("a,town\n1,Leiden\n", options); }), {"column 2 (town)", "\"Leiden\""});
  expect_parts(refusal([&] { read("b,town\n1,Breda\n", options); }), {"unit \"a\"", "1 (b), 2 (town)"});
  EXPECT_EQ(read("1,0,1\n", options).numbers, (std::vector<double>{1, 0, 1}));  // no names to go by
  expect_parts(refusal([&] { read("a,a,town\n1,1,Breda\n", options); }), {"unit \"a\"", "found 2"});
  EXPECT_EQ(read("a,a\n1,0\n", {.units = {"a", "a"}}).numbers, (std::vector<double>{1, 0}));
  EXPECT_EQ(read("id,a,a\n1,1,0\n2,0,0\n", {.units = {"a", "a"}}).numbers, (std::vector<double>{1, 0, 0, 0}));
}

/// A column of m and f, or of yes, no and perhaps, is one of words also where all that is left of it says true or
/// false.
TEST(Table, TheUnitsOfAMachineSayWhichColumnsAreWords) {
  const TableOptions options{.units = {"sex=f", "sex=m", "vote"}};
  EXPECT_EQ(read("sex,vote\nf,yes\n", options).numbers, (std::vector<double>{1, 0, 1}));
  EXPECT_EQ(read("sex,vote\nm,no\n", options).numbers, (std::vector<double>{0, 1, 0}));
  expect_parts(refusal([&] { read("sex,vote\nf,perhaps\n", options); }), {"column 2 (vote)", "true", "\"perhaps\""});
  expect_parts(refusal([&] { read("sex,vote\n1,no\n", options); }), {"row 1, column 1 (sex)", "words", "number 1"});
  const UnitTable unknown = read("sex,vote\n,no\n,yes\n", options, ValueKind::kBits, Missing::kAllowed);
  for (const std::size_t k : {0u, 1u, 3u, 4u}) EXPECT_TRUE(std::isnan(unknown.numbers[k])) << k;
  EXPECT_EQ(unknown.numbers[5], 1.0);
  EXPECT_EQ(read("a,a=b\n1,0\n", {.units = {"a=b", "a"}}).numbers, (std::vector<double>{0, 1}));
  EXPECT_EQ(read("a=b\nc\n", {.units = {"a=b=c"}}).numbers, (std::vector<double>{1}));
}

TEST(Table, WordsThatAreLabelsHaveThePlacesOfAMachinesClasses) {
  const TableOptions options{.label_column = "kind", .classes = {"ant", "bee", "cat"}};
  const UnitTable table = read("a,kind\n1,cat\n0,bee\n", options);
  EXPECT_EQ(table.notes.labels, (std::vector<int>{2, 1}));
  EXPECT_EQ(table.class_names, options.classes);
  expect_parts(refusal([&] { read("a,kind\n1,dog\n", options); }), {"column 2 (kind)", "no class \"dog\""});
  EXPECT_EQ(read("a,kind\n1,2\n", options).notes.labels, (std::vector<int>{2}));
}

TEST(Table, ManyColumnsAreFoundByName) {
  std::string header, row;
  TableOptions options;
  for (int k = 0; k < 20000; ++k) {
    header += "unit " + std::to_string(k) + ",";
    row += "1,";
    options.units.push_back("unit " + std::to_string(19999 - k));
  }
  const UnitTable table = read(header + "last\n" + row + "1\n", options);
  EXPECT_EQ(table.numbers.size(), 20000u);
}

}  // namespace
}  // namespace ergodic
