#include "ergodic/format/stockholm.hpp"

#include <gtest/gtest.h>

#include "format/damage.hpp"

namespace ergodic {
namespace {

std::vector<NamedSequence> parse(std::string_view text) { return parse_stockholm(bytes_from(text), "x.sto"); }

TEST(Stockholm, BlocksArePutTogether) {
  const auto found =
      parse("# STOCKHOLM 1.0\r\n#=GF ID RAS\n\na/1-4  AC\nb/1-4\tG-\n#=GC SS ..\n\na/1-4  D.\nb/1-4  et\n//\n\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "a/1-4");
  EXPECT_EQ(found[0].letters, "ACD.");
  EXPECT_EQ(found[1].letters, "G-et");
}

TEST(Stockholm, RefusalsNameTheLine) {
  const auto refused = [](std::string_view text) { return refusal([&] { parse(text); }); };
  EXPECT_EQ(refused("# STOCKHOLM 1.0\na AC GT\n"), "x.sto: line 2: expected a name and a sequence, found 3 words");
  EXPECT_EQ(refused("# STOCKHOLM 1.0\na A\x01\n"),
            "x.sto: line 2: letter 2 of the sequence: expected a printable one, found \"\\x01\"");
  EXPECT_EQ(refused("# STOCKHOLM 1.0\n//\n"), "x.sto: expected aligned sequences, found none");
  EXPECT_EQ(
      refused("# STOCKHOLM 1.0\na AC\n//\n# STOCKHOLM 1.0\n"),
      "x.sto: line 4: expected the end after \"//\", found \"# STOCKHOLM 1.0\"; give each alignment its own file");
}

TEST(Stockholm, ANameThatIsTwiceInABlockIsRefused) {
  EXPECT_EQ(refusal([] { parse("# STOCKHOLM 1.0\na AC\na GT\n//\n"); }),
            "x.sto: line 3: the name \"a\" is there twice; give each sequence its own");
  EXPECT_EQ(refusal([] { parse("# STOCKHOLM 1.0\na AC\nb AC\n\na GT\n#=GR a SS ..\na GT\n//\n"); }),
            "x.sto: line 7: the name \"a\" is there twice; give each sequence its own");
}

TEST(Stockholm, EveryTruncationAndFlippedBitIsSurvived) {
  const auto file = bytes_from("# STOCKHOLM 1.0\r\n#=GF x\r\na  AC\r\nb G-\r\n//\r\n");
  for_each_truncation(file, [](const ByteVector& part) { refuses([&] { parse_stockholm(part, "f"); }); });
  for_each_bit_flip(file,
                    [](const ByteVector& damaged, std::size_t) { refuses([&] { parse_stockholm(damaged, "f"); }); });
}

}  // namespace
}  // namespace ergodic
