#include "ergodic/format/rdata.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

#include "ergodic/format/rdata_objects.hpp"
#include "format/damage.hpp"

namespace ergodic {
namespace {

// ---- A writer of R's format, after "R Internals" ----

std::string word(std::uint32_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
  return out;
}

constexpr std::uint32_t kObject = 0x100, kAttributes = 0x200, kTag = 0x400;
const std::string kEnd = word(254);
constexpr std::int32_t kNaInteger = std::numeric_limits<std::int32_t>::min();

std::string text(const std::optional<std::string>& value) {
  return word(9) + (value ? word(static_cast<std::uint32_t>(value->size())) + *value : word(0xffffffff));
}

/// A name and its value in a list of pairs; the name is written out, as R does where it comes first.
std::string pair(const std::string& name, const std::string& value) {
  return word(2 | kTag) + word(1) + text(name) + value;
}

std::string strings(const std::vector<std::optional<std::string>>& values) {
  std::string out = word(16) + word(static_cast<std::uint32_t>(values.size()));
  for (const auto& value : values) out += text(value);
  return out;
}

std::string integers(const std::vector<std::int32_t>& values, const std::string& attributes = "",
                     std::uint32_t type = 13) {
  std::string out =
      word(type | (attributes.empty() ? 0 : kAttributes)) + word(static_cast<std::uint32_t>(values.size()));
  for (const std::int32_t value : values) out += word(static_cast<std::uint32_t>(value));
  return out + attributes;
}

std::string reals(const std::vector<double>& values, const std::string& attributes = "") {
  std::string out = word(14 | (attributes.empty() ? 0 : kAttributes)) + word(static_cast<std::uint32_t>(values.size()));
  for (const double value : values) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    out += word(static_cast<std::uint32_t>(bits >> 32)) + word(static_cast<std::uint32_t>(bits));
  }
  return out + attributes;
}

std::string factor(const std::vector<std::int32_t>& values, const std::vector<std::optional<std::string>>& levels) {
  return integers(values, pair("levels", strings(levels)) + pair("class", strings({"factor"})) + kEnd);
}

std::string frame(const std::vector<std::optional<std::string>>& names, const std::vector<std::string>& columns,
                  const std::string& of_class = "data.frame") {
  std::string out = word(19 | kObject | kAttributes) + word(static_cast<std::uint32_t>(columns.size()));
  for (const std::string& column : columns) out += column;
  return out + pair("names", strings(names)) + pair("row.names", integers({kNaInteger, -3})) +
         pair("class", strings({of_class})) + kEnd;
}

std::string version2() { return "X\n" + word(2) + word(0x40201) + word(0x20300); }
std::string rds(const std::string& object) { return version2() + object; }
std::string rda(const std::string& pairs) { return "RDX2\n" + version2() + pairs + kEnd; }

/// Two rows of everything that is read, three with NA.
std::string small_frame() {
  return frame({"party", "v", "x", "b", "s"},
               {factor({2, 1, kNaInteger}, {"republican", "democrat", "unused"}), factor({1, 2, 1}, {"0", "1"}),
                reals({0.5, -2.25, 1e300}), integers({1, 0, 1}, "", 10), strings({"u", std::nullopt, "t"})});
}

ByteVector gzip(const std::string& content) {
  ByteVector out(content.size() + 1000);
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

CsvTable parse(const std::string& file, Missing missing = Missing::kAllowed) {
  return parse_rdata(bytes_from(file), "t.rda", missing);
}
std::string refused(const std::string& file) {
  return refusal([&] { parse(file); });
}

double at(const CsvTable& table, std::size_t row, std::size_t column) {
  return table.numbers[row * table.columns.size() + column];
}

void expect_small(const CsvTable& table) {
  ASSERT_EQ(table.columns.size(), 5u);
  ASSERT_EQ(table.rows, 3u);
  EXPECT_TRUE(table.header);
  EXPECT_EQ(table.columns[0].name, "party");
  EXPECT_EQ(table.columns[0].words, (std::vector<std::string>{"democrat", "republican"}));
  EXPECT_EQ(table.columns[1].words, std::vector<std::string>{});  // words that are numbers
  EXPECT_EQ(table.columns[4].words, (std::vector<std::string>{"t", "u"}));
  const double nan = std::nan("");
  const double expected[3][5] = {{0, 0, 0.5, 1, 1}, {1, 1, -2.25, 0, nan}, {nan, 0, 1e300, 1, 0}};
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 5; ++c) {
      EXPECT_TRUE(at(table, r, c) == expected[r][c] || (std::isnan(at(table, r, c)) && std::isnan(expected[r][c])))
          << r << " " << c;
    }
  }
}

// ---- What is read ----

TEST(RData, ADataFrameOfSaveAndOfSaveRds) {
  expect_small(parse(rds(small_frame())));
  expect_small(parse(rda(pair("votes", small_frame()))));
  const std::string version3 = "X\n" + word(3) + word(0x40201) + word(0x30500) + word(5) + "UTF-8";
  expect_small(parse(version3 + small_frame()));
  expect_small(parse("RDX3\n" + version3 + pair("votes", small_frame()) + kEnd));
}

TEST(RData, GzipIsTakenOff) {
  expect_small(parse_rdata(gzip(rds(small_frame())), "t.rds", Missing::kAllowed));
  expect_small(parse_rdata(gzip(rda(pair("votes", small_frame()))), "t.rda", Missing::kAllowed));
}

TEST(RData, OtherObjectsBesideTheOnlyDataFrameAreLeftOut) {
  expect_small(parse(rda(pair("n", integers({1, 2})) + pair("votes", small_frame()) + pair("none", kEnd))));
}

/// Later names refer to the first time that they stand in the file, in either of two ways.
TEST(RData, NamesMayBeReferences) {
  for (const std::string& reference : {word(255 | 2u << 8), word(255) + word(2)}) {
    const std::string second =
        word(13 | kAttributes) + word(1) + word(1) + word(2 | kTag) + reference + strings({"b"}) + kEnd;
    const std::string first = integers({1}, pair("a", strings({"x"})) + pair("levels", strings({"q"})) + kEnd);
    const RFile file = parse_r_objects(bytes_from(rds(word(19) + word(2) + first + second)), "t");
    const RObject* found = file.objects[0].second.members[1].attribute("levels");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(file.texts[found->texts[0]], "b");
  }
}

TEST(RData, WordsThatStandForMissingValuesAreMissing) {
  const CsvTable table = parse(rds(frame({"a"}, {strings({"x", "?", "", "NA"})})));
  EXPECT_EQ(table.columns[0].words, std::vector<std::string>{"x"});
  for (std::size_t r = 1; r < 4; ++r) EXPECT_TRUE(std::isnan(at(table, r, 0)));
}

TEST(RData, MissingValuesThatAreNotAllowedAreTheColumnsProblem) {
  const CsvTable table = parse(rds(small_frame()), Missing::kRefused);
  EXPECT_EQ(table.columns[0].problem,
            "row 3: column 1 (party): expected a word, found NA; fill in or remove missing values, or say --missing if "
            "the command takes it");
  EXPECT_EQ(table.columns[1].problem, "");
}

TEST(RData, ColumnsThatAreNoVectorsOfNumbersOrWordsAreAProblem) {
  const std::string date = reals({1, 2}, pair("class", strings({"Date"})) + kEnd);
  const std::string matrix = reals({1, 2}, pair("dim", integers({1, 2})) + kEnd);
  const std::string list = word(19) + word(2) + kEnd + kEnd;
  const CsvTable table = parse(rds(frame({"x", "d", "m", "l"}, {reals({1, 2}), date, matrix, list})));
  EXPECT_EQ(table.columns[0].problem, "");
  EXPECT_EQ(table.columns[1].problem,
            "column 2 (d): expected numbers or words, found R's class \"Date\"; turn it into one of them");
  for (const std::size_t c : {2u, 3u}) {
    EXPECT_NE(table.columns[c].problem.find("found a list or a matrix of R"), std::string::npos) << c;
  }
}

// ---- What is refused ----

TEST(RData, RefusalsSayWhatWasExpected) {
  EXPECT_EQ(
      refused(rds(integers({1}))),
      "t.rda: expected a data frame of R, found none in 1 object; save one alone, made by as.data.frame if it is a "
      "matrix");
  EXPECT_EQ(refused(rda(pair("a", small_frame()) + pair("b", small_frame()))),
            "t.rda: expected a data frame of R, found 2 in 2 objects; save one alone");
  EXPECT_EQ(refused(rds(frame({"a", "b"}, {reals({1, 2}), reals({1})}))),
            "t.rda: column 2 (b): expected 2 rows as in the first column, found 1");
  EXPECT_EQ(refused(rds(frame({"a"}, {factor({3}, {"x", "y"})}))),
            "t.rda: row 1, column 1 (a): expected one of 2 levels of a factor, found 3");
  EXPECT_EQ(refused(rds(frame({}, {}))), "t.rda: expected a data frame of 1 to 1000000 columns, found 0");
  EXPECT_EQ(refused(rds(frame({"a"}, {reals({})}))), "t.rda: expected rows, found a data frame without any");
  EXPECT_EQ(refused(rds(frame({"a\x1b[2J"}, {reals({1})}))), "t.rda: expected text, found \"a\\x1b[2J\"");
  EXPECT_EQ(refused("A\n"), "t.rda: byte 2: expected XDR, written X, found \"A\\x0a\"; save without ascii");
  EXPECT_EQ(refused("X\n" + word(4)), "t.rda: byte 6: expected version 2 or 3, found 4");
  EXPECT_NE(refused(rds(word(238))).find("version = 2"), std::string::npos);
  EXPECT_NE(refused(rds(word(3))).find("type 3 of R"), std::string::npos);
  EXPECT_NE(refused(rds(small_frame()) + "x").find("the objects"), std::string::npos);
}

/// Nothing is allocated for sizes that the file cannot hold.
TEST(RData, SizesAreHeldAgainstTheFile) {
  for (const std::uint32_t type : {9u, 10u, 13u, 14u, 16u, 19u}) {
    for (const std::uint32_t count : {0x7fffffffu, 0xfffffffeu, 0x80000000u}) {
      EXPECT_TRUE(refuses([&] { parse(rds(word(type) + word(count) + word(1))); })) << type << " " << count;
      EXPECT_TRUE(refuses([&] { parse_rdata(gzip(rds(word(type) + word(count))), "t"); })) << type << " " << count;
    }
  }
}

TEST(RData, ListsAreNeitherTooDeepNorTooLong) {
  std::string deep = kEnd;
  for (int k = 0; k < 1000; ++k) deep = word(19) + word(1) + deep;
  EXPECT_NE(refused(rds(deep)).find("more than 16 deep"), std::string::npos);
  std::string pairs = kEnd;
  for (int k = 0; k < 1000; ++k) pairs = word(2) + pairs + kEnd;
  EXPECT_NE(refused(rds(pairs)).find("more than 16 deep"), std::string::npos);
  std::string many = word(19) + word(5'000'000);
  for (int k = 0; k < 5'000'000; ++k) many += kEnd;
  EXPECT_NE(refused(rds(many)).find("more than 4000000 objects"), std::string::npos);
}

TEST(RData, EveryTruncationIsRefused) {
  const ByteVector plain = bytes_from(rda(pair("votes", small_frame())));
  for_each_truncation(plain, [](const ByteVector& part) { EXPECT_TRUE(refuses([&] { parse_rdata(part, "t"); })); });
  for_each_truncation(gzip(rds(small_frame())),
                      [](const ByteVector& part) { EXPECT_TRUE(refuses([&] { parse_rdata(part, "t"); })); });
}

TEST(RData, EveryFlippedBitIsSurvived) {
  for (const ByteVector& file : {bytes_from(rda(pair("votes", small_frame()))), gzip(rds(small_frame()))}) {
    for_each_bit_flip(file, [](const ByteVector& damaged, std::size_t) {
      refuses([&] { parse_rdata(damaged, "t", Missing::kAllowed); });
    });
  }
}

}  // namespace
}  // namespace ergodic
