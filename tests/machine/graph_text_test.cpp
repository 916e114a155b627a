#include "ergodic/machine/graph_text.hpp"

#include <gtest/gtest.h>

#include "boltzmann_machines.hpp"
#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/format/file.hpp"
#include "format/damage.hpp"

namespace ergodic {
namespace {

Graph parsed(const std::string& text, GraphSize size = {12, 0}) { return graph_from_text(text, size, Key{1}); }

Graph from_file(const std::string& content, GraphSize size = {4, 0}) {
  const auto path = fresh_path("edges.txt");
  write_file(path, std::as_bytes(std::span(content)));
  return graph_from_text(path.string(), size, Key{1});
}

TEST(GraphText, WordsGiveTheGraphsOfTheLibrary) {
  EXPECT_TRUE(parsed("dense") == dense_graph(12));
  EXPECT_TRUE(parsed("dense", {12, 3}) == dense_graph(15));
  EXPECT_TRUE(parsed("grid:3x4") == grid_graph(3, 4, Border::kOpen));
  EXPECT_TRUE(parsed("torus:3x4", {9, 3}) == grid_graph(3, 4, Border::kPeriodic));
  EXPECT_TRUE(parsed("random:2.5", {9, 3}) == random_graph(12, 2.5, Key{1}));
}

TEST(GraphText, AFileHasAnEdgeOnEachLine) {
  const std::vector<test::Edge> expected{{0, 1}, {0, 3}, {1, 2}};
  for (const char* content : {"1 0\n0 3\n2 1\n", "1,0\r\n0,3\r\n2,1", "# units\n\n1;0\n 3\t0 \n1, 2\n"}) {
    EXPECT_EQ(test::edges_of(from_file(content)), expected) << content;
  }
  EXPECT_EQ(from_file("0 5\n", {4, 2}).units(), 6u);
  EXPECT_EQ(from_file("# none\n").edges(), 0u);
}

TEST(GraphText, OtherWordsAreRefused) {
  for (const std::string text : {"", "ring", "dense:3", "no/such/file"}) {
    expect_parts(message_of<UsageError>([&] { parsed(text); }),
                 {"dense, grid:HxW, torus:HxW, random:DEGREE", "file", text.empty() ? "''" : text});
  }
  for (const char* text : {"grid:3", "grid:", "torus:3x", "grid:x4", "grid:3x4x1", "grid:0x12", "grid:-3x4",
                           "torus:99999999999x99999999999"}) {
    expect_parts(message_of<UsageError>([&] { parsed(text); }), {text, "two sides", "28x28"});
  }
  for (const char* text : {"random", "random:", "random:few"}) {
    expect_parts(message_of<UsageError>([&] { parsed(text); }), {text, "neighbours", "random:6"});
  }
  expect_parts(message_of<UsageError>([&] { parsed("random:12"); }), {"12 units", "from 0 to 11", "found 12"});
  expect_parts(message_of<UsageError>([&] { parsed("random:nan"); }), {"from 0 to 11"});
  expect_parts(message_of<UsageError>([&] { parsed("torus:2x6"); }), {"at least 3", "2 x 6"});
}

TEST(GraphText, SizesThatDoNotFitAreSaidWithThoseOfTheData) {
  expect_parts(message_of<UsageError>([&] { parsed("grid:4x4"); }), {"4 x 4 = 16", "12 visible units", "other sides"});
  expect_parts(message_of<UsageError>([&] { parsed("grid:4x4", {12, 3}); }), {"16", "12 visible and 3 hidden units"});
  expect_parts(message_of<UsageError>([&] { parsed("torus:3x3"); }), {"9", "12 visible units", "other sides"});
}

TEST(GraphText, EdgesThatAreNoneAreNamedByTheirLine) {
  const auto refusal_of = [](const std::string& content) { return message_of<DataError>([&] { from_file(content); }); };
  expect_parts(refusal_of("0 1\n# so\n1 4\n"), {"edges.txt: line 3", "0 to 3", "4 visible units", "found 4"});
  expect_parts(refusal_of("0 1\n2 2\n"), {"line 2", "unit 2 with itself"});
  expect_parts(refusal_of("0 1\n1 2\n1 0\n"), {"line 3", "0 and 1 again", "after line 1"});
  expect_parts(refusal_of("0 1 2\n"), {"line 1", "two units", "3 fields"});
  expect_parts(refusal_of("0\n"), {"line 1", "two units", "1 fields"});
  expect_parts(refusal_of("0 -1\n"), {"line 1", "whole number", "-1"});
  expect_parts(refusal_of("0 1.5\n"), {"line 1", "whole number", "1.5"});
  expect_parts(refusal_of("a b\n"), {"line 1", "whole number"});
}

}  // namespace
}  // namespace ergodic
