#include "ergodic/format/fasta.hpp"

#include <gtest/gtest.h>

#include "format/damage.hpp"

namespace ergodic {
namespace {

std::vector<NamedSequence> parse(std::string_view text) { return parse_fasta(bytes_from(text), "t.fasta"); }

/// "name=letters" for each sequence.
std::vector<std::string> parsed(std::string_view text) {
  std::vector<std::string> out;
  for (const auto& [name, letters] : parse(text)) out.push_back(name + "=" + letters);
  return out;
}

TEST(Fasta, NamesAndSequences) {
  const std::vector<std::string> expected{"a=ACD-", "b c|2=.gE*"};
  for (const auto* text : {">a\nACD-\n>b c|2\n.gE*\n", ">a\nACD-\n>b c|2\n.gE*", ">a\r\nACD-\r\n>b c|2\r\n.gE*\r\n",
                           ">a\nAC\nD\n-\n>b c|2\n.\ngE*\n", "\n>a\n\nAC\n \t\nD-\n\n\n>b c|2\n.gE*\n\n",
                           "> a \nACD-  \n>\tb c|2\t\n.gE*\t\n"}) {
    EXPECT_EQ(parsed(text), expected) << text;
  }
}

TEST(Fasta, NamesMayBeEmptyRepeatedOrInAnyLanguage) {
  EXPECT_EQ(parsed(">\nA\n>\nB\n"), (std::vector<std::string>{"=A", "=B"}));
  EXPECT_EQ(parsed(">x > y\nA\n>\xc3\xa9\tz\nB\n"), (std::vector<std::string>{"x > y=A", "\xc3\xa9\tz=B"}));
}

TEST(Fasta, RefusalsNameFileAndLine) {
  const auto refused = [](std::string_view text) { return refusal([&] { parse(text); }); };
  EXPECT_EQ(refused(""), "t.fasta: expected sequences under \">name\" lines, found no line with content");
  EXPECT_EQ(refused("\n \r\n"), refused(""));
  EXPECT_EQ(refused("\nACD\n>a\nA\n"),
            "t.fasta: line 2: expected a header line such as \">name\" before all else, found \"ACD\"");
  EXPECT_EQ(refused(">a\nA\n>b\n\n>c\nA\n"), "t.fasta: line 3: expected a sequence under the header \"b\", found none");
  EXPECT_EQ(refused(">a\nA\n>b\n"), "t.fasta: line 3: expected a sequence under the header \"b\", found none");
  EXPECT_EQ(refused(">"), "t.fasta: line 1: expected a sequence under the header \"\", found none");
  EXPECT_EQ(refused(">a\nAC\nA\x01\n"),
            "t.fasta: line 3: column 2: expected a letter of the sequence, found \"\\x01\"");
  EXPECT_EQ(refused(">a\nAC DE\n"), "t.fasta: line 2: column 3: expected a letter of the sequence, found \" \"");
  EXPECT_EQ(refused(">a\rAC\n"), "t.fasta: line 1: column 3: expected text in a header line, found \"\\x0d\"");
  EXPECT_EQ(refused(std::string_view(">a\0b\nA\n", 7)),
            "t.fasta: line 1: column 3: expected text in a header line, found \"\\x00\"");
  EXPECT_EQ(refused(">a\n\xc3\n"), "t.fasta: line 2: column 1: expected a letter of the sequence, found \"\\xc3\"");
}

TEST(Fasta, EveryTruncationAndFlippedBitIsSurvived) {
  const auto file = bytes_from(">a b\r\nAC-\r\nD.e\r\n\r\n>c\r\nACDEFG\r\n");
  for_each_truncation(file, [](const ByteVector& part) { refuses([&] { parse_fasta(part, "f"); }); });
  for_each_bit_flip(file, [](const ByteVector& damaged, std::size_t) { refuses([&] { parse_fasta(damaged, "f"); }); });
}

TEST(Fasta, AFileCutBeforeItsLastSequenceIsRefused) {
  const std::string whole = ">a\nACD\n>b\nACD\n";
  for (std::size_t size = 0; size + 4 <= whole.size(); ++size) {
    const bool complete = size > 3 && size <= 7;  // nothing says that a second sequence was to come
    EXPECT_EQ(refuses([&] { parse(whole.substr(0, size)); }), !complete) << size;
  }
}

}  // namespace
}  // namespace ergodic
