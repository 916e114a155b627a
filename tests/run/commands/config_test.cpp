#include "ergodic/run/commands/config.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "format/damage.hpp"

namespace ergodic {
namespace {

using Values = std::map<std::string, std::string>;

Values config_of(const std::string& text) {
  const auto path = fresh_path("c.conf");
  std::ofstream(path, std::ios::binary) << text;
  return read_config(path);
}

TEST(Config, LinesAreNamesAndValues) {
  const Values expected{{"epochs", "3"}, {"data", "a b=c"}, {"rate", ""}};
  EXPECT_EQ(config_of("epochs = 3\ndata=a b=c\nrate =\n"), expected);
  EXPECT_EQ(config_of("  epochs\t=  3  \r\n\tdata = a b=c\r\nrate="), expected);
}

TEST(Config, CommentsAndBlankLinesAreSkipped) {
  EXPECT_EQ(config_of("# all of it\n\n   \n\t# more\nepochs = 3 # three\n#rate = 1\n"), (Values{{"epochs", "3"}}));
  EXPECT_EQ(config_of(""), Values{});
}

TEST(Config, ALineThatIsNoneIsNamed) {
  for (const char* line : {"epochs", "= 3", "epochs 3", "[section]"}) {
    expect_parts(refusal([&] { config_of(std::string("# a comment\nrate = 1\n") + line + "\n"); }),
                 {"c.conf", "line 3", "name = value", line});
  }
}

TEST(Config, ANameThatStandsTwiceIsNamed) {
  expect_parts(refusal([] { config_of("epochs = 3\n\nepochs = 3\n"); }), {"c.conf", "line 3", "\"epochs\"", "twice"});
}

TEST(Config, AMissingFileIsMissingInput) { EXPECT_THROW(read_config(fresh_path("nothing")), NoInputError); }

}  // namespace
}  // namespace ergodic
