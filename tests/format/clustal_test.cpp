#include "ergodic/format/clustal.hpp"

#include <gtest/gtest.h>

#include "format/damage.hpp"

namespace ergodic {
namespace {

std::vector<NamedSequence> parse(std::string_view text) { return parse_clustal(bytes_from(text), "x.aln"); }

TEST(Clustal, BlocksArePutTogether) {
  const auto found = parse(
      "CLUSTAL O(1.2.4) multiple sequence alignment\r\n\r\n\r\na   AC 2\nb   G- 1\n    *.\n\na   D\nb   -\n    :\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "a");
  EXPECT_EQ(found[0].letters, "ACD");
  EXPECT_EQ(found[1].letters, "G--");
}

TEST(Clustal, RefusalsNameTheLine) {
  const auto refused = [](std::string_view text) { return refusal([&] { parse(text); }); };
  EXPECT_EQ(refused("CLUSTAL\n\na\n"), "x.aln: line 3: expected a name, a sequence and perhaps a number, found \"a\"");
  EXPECT_EQ(refused("CLUSTAL\n\na AC GT\n"),
            "x.aln: line 3: expected a name, a sequence and perhaps a number, found \"a AC GT\"");
  EXPECT_EQ(refused("CLUSTAL\n"), "x.aln: expected aligned sequences, found none");
}

TEST(Clustal, ANameThatIsTwiceInABlockIsRefused) {
  EXPECT_EQ(refusal([] { parse("CLUSTAL\n\na AC\na GT\n  **\n"); }),
            "x.aln: line 4: the name \"a\" is there twice; give each sequence its own");
}

TEST(Clustal, EveryTruncationAndFlippedBitIsSurvived) {
  const auto file = bytes_from("CLUSTAL W\r\n\r\na  AC 2\r\nb G- 1\r\n   * \r\n");
  for_each_truncation(file, [](const ByteVector& part) { refuses([&] { parse_clustal(part, "f"); }); });
  for_each_bit_flip(file,
                    [](const ByteVector& damaged, std::size_t) { refuses([&] { parse_clustal(damaged, "f"); }); });
}

}  // namespace
}  // namespace ergodic
