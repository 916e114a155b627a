#include "ergodic/format/csv.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>

#include "ergodic/format/file.hpp"
#include "format/damage.hpp"

namespace ergodic {
namespace {

CsvTable table_of(std::string_view text, Missing missing = Missing::kRefused) {
  return parse_csv(bytes_from(text), "t.csv", missing);
}
Array parse(std::string_view text, Missing missing = Missing::kRefused) {
  return numbers_of(table_of(text, missing), "t.csv");
}

void expect_table(std::string_view text, std::vector<std::size_t> shape, const std::vector<double>& values) {
  const Array table = parse(text);
  EXPECT_EQ(table.type, ElementType::kFloat64);
  EXPECT_EQ(table.shape, shape) << text;
  EXPECT_EQ(elements_of<double>(table), values) << text;
}

TEST(Csv, EverySeparator) {
  for (const auto* text : {"1,2.5\n-3,4e2\n", "1;2.5\n-3;4e2", "1\t2.5\n-3\t4e2\n", "1 2.5\n-3 4e2\n",
                           " 1   2.5 \n -3 \t 4e2\n", "1, 2.5\r\n-3 ,4e2\r\n", "\"1\",\"2.5\"\n\" -3\",+4e2\n",
                           "\xef\xbb\xbf"
                           "1,2.5\n-3,4e2\n"}) {
    expect_table(text, {2, 2}, {1, 2.5, -3, 400});
  }
  expect_table("7\n8\n", {2, 1}, {7, 8});
  expect_table("7", {1, 1}, {7});
}

TEST(Csv, HeadersCommentsAndBlankLinesAreSkipped) {
  expect_table("a,b\n1,2\n", {1, 2}, {1, 2});
  expect_table("\"a, or; so\",b\n1,2\n", {1, 2}, {1, 2});
  expect_table("# made by hand\n\n  \nx;y\n# more\n1;2\n\n3;4\n  # end\n", {2, 2}, {1, 2, 3, 4});
}

TEST(Csv, AFirstRowWithOneBadValueIsNotTakenForAHeader) {
  EXPECT_EQ(
      refusal([] { parse("1,NA\n2,3\n"); }),
      "t.csv: line 1: column 2: expected a number, found \"NA\"; fill in or remove missing values, or say --missing if "
      "the command takes it");
}

TEST(Csv, NanAndInfinityAreNumbers) {
  const auto values = elements_of<double>(parse("nan,inf\n1,-Infinity\n"));
  ASSERT_EQ(values.size(), 4u);
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], INFINITY);
  EXPECT_EQ(values[3], -INFINITY);
}

TEST(Csv, TheLocaleDoesNotMatter) {
  const std::string old = std::setlocale(LC_ALL, nullptr);
  std::setlocale(LC_ALL, "de_DE.UTF-8");  // if it is installed; otherwise nothing changes
  expect_table("1.5,2\n", {1, 2}, {1.5, 2});
  std::setlocale(LC_ALL, old.c_str());
}

TEST(Csv, RefusalsNameLineAndColumn) {
  const auto refused = [](std::string_view text) { return refusal([&] { parse(text); }); };
  EXPECT_EQ(refused("1,2\n\n3\n"), "t.csv: line 3: expected 2 fields as in the first line, found 1");
  EXPECT_EQ(refused("a,b\n1,2,3\n"), "t.csv: line 2: expected 2 fields as in the first line, found 3");
  EXPECT_EQ(refused("1,2\n3,x4\n"), "t.csv: line 2: column 2: expected a number such as 0.5, found \"x4\"");
  EXPECT_EQ(refused("1;2\n3;4,5\n"), "t.csv: line 2: column 2: expected a number such as 0.5, found \"4,5\"");
  EXPECT_EQ(refused("my answer\n1\n"),
            "t.csv: line 2: expected 2 fields as in the first line, found 1; if a name has blanks in it, put it in "
            "quotes");
  for (const auto* number : {"0,5", "1,000", "50%", "-1.234,5"}) {
    EXPECT_EQ(refused(std::string("a;b\n") + number + ";1\n"),
              std::string("t.csv: line 2: column 1 (a): expected a number such as 0.5, found \"") + number + "\"");
  }
  EXPECT_EQ(table_of("a;b\n18-24;2.1.0\n").columns[0].words[0], "18-24");
  EXPECT_EQ(refused("1,,3\n"),
            "t.csv: line 1: column 2: expected a number, found an empty field; fill in or remove missing values, or "
            "say --missing if the command takes it");
  EXPECT_EQ(refused("1,2\n3,1e999\n"), "t.csv: line 2: column 2: \"1e999\" is out of the range of a 64-bit float");
  EXPECT_EQ(refused("1,2\n3,\"4\n"),
            "t.csv: line 2: expected a closing quote on the same line, found the end of the line");
  EXPECT_EQ(refused("# nothing\n\n"), "t.csv: expected rows of numbers, found no line with content");
  EXPECT_EQ(refused(""), "t.csv: expected rows of numbers, found no line with content");
  EXPECT_EQ(refused("a,b\n"),
            "t.csv: line 1: expected rows of numbers after the header \"a,b\", found the end of the file");
  EXPECT_EQ(refused("a,b\nx\x01,y\n"), "t.csv: line 2: expected text, found \"x\\x01\"");
  EXPECT_THROW(parse("1,2\n+-3,4\n"), DataError);
  EXPECT_THROW(parse("1,2\n0x10,4\n"), DataError);
}

TEST(Csv, EveryTruncationAndFlippedBitIsSurvived) {
  const auto file = bytes_from("# c\r\n\"a\",b\r\n1.5,\"2\"\r\n\r\n-3e2,nan\r\n");
  for_each_truncation(file, [](const ByteVector& part) { refuses([&] { parse_csv(part, "f"); }); });
  for_each_bit_flip(file, [](const ByteVector& damaged, std::size_t) { refuses([&] { parse_csv(damaged, "f"); }); });
}

TEST(Csv, MissingValuesAreReadAsNanIfTheyAreAllowed) {
  const Array array = parse("a,b,c,d\n?,NA,,nan\n1,\"NA\",3,\"\"\n", Missing::kAllowed);
  EXPECT_EQ(array.shape, (std::vector<std::size_t>{2, 4}));
  const auto values = elements_of<double>(array);
  for (const std::size_t k : {0u, 1u, 2u, 3u, 5u, 7u}) EXPECT_TRUE(std::isnan(values[k])) << k;
  EXPECT_EQ(values[4], 1.0);
  EXPECT_EQ(values[6], 3.0);
  EXPECT_THROW(parse("1,x\n", Missing::kAllowed), DataError);
}

TEST(Csv, AFirstRowWithoutAnyValueIsNoHeader) {
  EXPECT_EQ(parse("?,?\n1,2\n", Missing::kAllowed).shape[0], 2u);
  EXPECT_EQ(parse("\"\",b\n1,2\n", Missing::kAllowed).shape[0], 1u);  // as R writes it
  EXPECT_EQ(parse("?,?\n1,2\n").shape[0], 1u);
  EXPECT_EQ(table_of("True,no\nyes,F\n").rows, 2u);
}

TEST(Csv, NamesAndWordsAreKept) {
  const CsvTable table = table_of("\"a \"\"b\"\"\",town,\n1,Utrecht,7\n2,Breda,8\n3,Utrecht,9\n");
  EXPECT_TRUE(table.header);
  ASSERT_EQ(table.columns.size(), 3u);
  EXPECT_EQ(table.columns[0].name, "a \"b\"");
  EXPECT_EQ(table.columns[1].name, "town");
  EXPECT_EQ(table.columns[2].name, "");
  EXPECT_TRUE(table.columns[0].words.empty());
  EXPECT_EQ(table.columns[1].words, (std::vector<std::string>{"Breda", "Utrecht"}));
  EXPECT_EQ(table.columns[1].line, 2u);
  EXPECT_EQ(table.numbers, (std::vector<double>{1, 1, 7, 2, 0, 8, 3, 1, 9}));
}

TEST(Csv, NamesInLatin1BecomeUtf8) {
  const CsvTable table = table_of(
      "gr\xf6\xdf"
      "e,gr\xc3\xb6\xc3\x9f"
      "e\nM\xfcnchen,M\xc3\xbcnchen\n");
  EXPECT_EQ(table.columns[0].name,
            "gr\xc3\xb6\xc3\x9f"
            "e");
  EXPECT_EQ(table.columns[1].name, table.columns[0].name);
  EXPECT_EQ(table.columns[0].words, table.columns[1].words);
}

TEST(Csv, LongNamesAreCutInMessages) {
  EXPECT_EQ(column_text(2, ""), "3");
  EXPECT_EQ(column_text(2, "\xc3\xa9t\xc3\xa9"), "3 (\xc3\xa9t\xc3\xa9)");
  EXPECT_EQ(column_text(0, std::string(100, 'x')), "1 (" + std::string(40, 'x') + "...)");
}

TEST(Csv, AColumnThatWillNotDoIsNoProblemOfTheOthers) {
  const CsvTable table = table_of("a,b,c,d\n1,x,2,1\n2,7,,1\ny,z,3,1\n");
  EXPECT_EQ(table.columns[0].problem, "line 4: column 1 (a): expected a number such as 0.5, found \"y\"");
  EXPECT_EQ(table.columns[1].problem, "line 3: column 2 (b): expected a word such as \"x\", found the number \"7\"");
  EXPECT_EQ(table.columns[2].problem,
            "line 3: column 3 (c): expected a number, found an empty field; fill in or remove missing values, or say "
            "--missing if the command takes it");
  EXPECT_EQ(table.columns[3].problem, "");
}

TEST(Csv, ALineThatCountsTheColumnsIsAHeader) {
  EXPECT_TRUE(table_of("0,1,2,3,4,5,6,7\n1,0,1,0,1,0,1,0\n").header);    // pandas, without an index
  EXPECT_EQ(table_of(",0,1,2\n0,1,0,1\n", Missing::kAllowed).rows, 1u);  // and with one
  EXPECT_EQ(table_of(",0,1,2\n0,1,0,1\n").columns[3].name, "2");
  EXPECT_EQ(table_of("0,1,2,3\n1,0,1,0\n").rows, 2u);  // may be letters
  EXPECT_EQ(table_of(",0,1\n1,0,1\n", Missing::kAllowed).rows, 2u);
  EXPECT_EQ(table_of("1,2,3,4,5,6,7,8\n1,0,1,0,1,0,1,0\n").rows, 2u);
}

TEST(Csv, AHeaderWithANumberIsAskedAbout) {
  EXPECT_EQ(table_of("town,2019\nBreda,1\nLeiden,0\n").columns[0].problem, "");
  EXPECT_EQ(
      table_of("age,2019\n7,1\n").columns[0].problem,
      "line 2: column 1: expected a word such as \"age\", found the number \"7\"; if the first line has names, none of "
      "them may be a number");
}

TEST(Csv, ALineOfTooManyFieldsIsRefused) {
  std::string text(2 * kMostCsvColumns, ',');
  for (std::size_t k = 0; k < text.size(); k += 2) text[k] = '1';
  EXPECT_EQ(refusal([&] { parse(text + "1"); }),
            "t.csv: line 1: expected at most 1000000 fields, found 1000001; is each row a line of its own?");
}

TEST(Csv, ControlCharactersOfUnicodeAreRefused) {
  EXPECT_EQ(refusal([] {
              parse(
                  "a,\xc2\x9b"
                  "31m\n1,2\n");
            }),
            "t.csv: line 1: expected text, found \"\\xc2\\x9b31m\"");
  EXPECT_EQ(table_of("\x80,b\n1,2\n").columns[0].name, "\xe2\x82\xac");  // the euro of Windows
}

TEST(Csv, WhatIsWrittenIsRead) {
  const auto path = fresh_path("t.csv");
  const auto names_of = [&](const std::vector<std::string>& names) {
    std::vector<std::string> out;
    write_csv(path, {names, std::vector<std::string>(names.size(), "1")});
    for (const CsvColumn& column : parse_csv(read_file(path), "t.csv").columns) out.push_back(column.name);
    return out;
  };
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"# of rooms", "b"}, {"a;b", "c"}, {"a,b", "\"c\""}, {"one two"}}) {
    EXPECT_EQ(names_of(names), names) << names[0];
  }
  write_csv(path, {{""}, {"1"}});
  EXPECT_EQ(parse_csv(read_file(path), "t.csv", Missing::kAllowed).rows, 2u);
}

TEST(Csv, TruthHasManyNames) {
  for (const auto* word : {"True", "TRUE", "yes", "Yes", "t", "T"}) EXPECT_EQ(truth_of(word), true) << word;
  for (const auto* word : {"False", "false", "NO", "f"}) EXPECT_EQ(truth_of(word), false) << word;
  for (const auto* word : {"", "1", "y", "truth"}) EXPECT_EQ(truth_of(word), std::nullopt) << word;
}

}  // namespace
}  // namespace ergodic
