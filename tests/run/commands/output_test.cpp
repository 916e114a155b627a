#include "ergodic/run/commands/output.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "format/damage.hpp"

namespace ergodic {
namespace {

TEST(Output, APathInAFolderOfOursPassesAndNothingIsWritten) {
  const auto path = fresh_path("x.png");
  EXPECT_NO_THROW(require_writable(path));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Output, AFileThatIsThereMayBeReplaced) {
  const auto path = fresh_path("x.png");
  std::ofstream(path) << "before";
  EXPECT_NO_THROW(require_writable(path));
  EXPECT_EQ(std::filesystem::file_size(path), 6u);
}

TEST(Output, NoPathAtAllPasses) { EXPECT_NO_THROW(require_writable("")); }

TEST(Output, AMissingFolderIsNamed) {
  const auto path = fresh_path("nothing") / "x.png";
  expect_parts(message_of<IoError>([&] { require_writable(path); }), {path.string(), path.parent_path().string()});
}

TEST(Output, AFolderIsNoFile) {
  const auto folder = fresh_path("x.png").parent_path();
  expect_parts(message_of<IoError>([&] { require_writable(folder); }), {folder.string(), "folder"});
}

TEST(Output, AFileIsNoFolder) {
  const auto file = fresh_path("program");
  std::ofstream(file) << "text";
  message_of<IoError>([&] { require_writable(file / "x.png"); });
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);  // executable, as a folder is
  message_of<IoError>([&] { require_writable(file / "x.png"); });
}

TEST(Output, WhatIsNoRegularFileCannotBeReplaced) {
  const auto pipe = fresh_path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  message_of<IoError>([&] { require_writable(pipe); });
}

TEST(Output, ANameLongerThanTheFileSystemAllowsIsRefused) {
  const auto path = fresh_path(std::string(300, 'x'));
  message_of<IoError>([&] { require_writable(path); });
}

TEST(Output, TwoOptionsThatNameOneFileAreNamed) {
  const auto path = fresh_path("x.png");
  const auto roundabout = path.parent_path() / "." / ".." / path.parent_path().filename() / "x.png";
  for (const auto& same : {path, roundabout}) {
    const auto distinct = [&] { require_distinct({{"--out", path}, {"--log", "other"}, {"--report", same}}); };
    expect_parts(message_of<UsageError>(distinct), {"--out", "--report", same.string()});
  }
}

TEST(Output, ALinkNamesTheFileBehindIt) {
  const auto path = fresh_path("x.png");
  const auto link = path.parent_path() / "link";
  std::ofstream(path) << "text";
  std::filesystem::create_symlink(path, link);
  message_of<UsageError>([&] { require_distinct({{"--out", path}, {"--log", link}}); });
}

TEST(Output, ARelativeNameOfAFileThatIsNotThereYetIsKnown) {
  for (const auto& same : {std::filesystem::path("./x.png"), std::filesystem::current_path() / "x.png"}) {
    message_of<UsageError>([&] { require_distinct({{"--out", "x.png"}, {"--log", same}}); });
  }
}

TEST(Output, FilesOfTheirOwnAndEmptyPathsPass) {
  const auto path = fresh_path("x.png");
  EXPECT_NO_THROW(
      require_distinct({{"--out", path}, {"--log", ""}, {"--report", path.parent_path() / "y"}, {"-", ""}}));
}

// They are refused later, each with its own message.
TEST(Output, TwoNamesThatTheSystemRefusesAreNotTheSame) {
  const std::filesystem::path one(std::string(300, 'x')), other(std::string(300, 'y'));
  EXPECT_NO_THROW(require_distinct({{"--data", one}, {"--labels", other}}));
}

}  // namespace
}  // namespace ergodic
