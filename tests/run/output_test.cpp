#include "ergodic/run/output.hpp"

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

TEST(Output, OneFileForTwoThingsIsNamed) {
  const auto path = fresh_path("x.png");
  const auto roundabout = path.parent_path() / "." / ".." / path.parent_path().filename() / "x.png";
  expect_parts(message_of<UsageError>([&] { require_distinct({path, "other", path}); }), {path.string()});
  expect_parts(message_of<UsageError>([&] { require_distinct({path, roundabout}); }), {roundabout.string()});
}

TEST(Output, OneFileUnderTwoNamesIsNamed) {
  const auto path = fresh_path("x.png");
  const auto link = path.parent_path() / "link";
  std::ofstream(path) << "text";
  std::filesystem::create_symlink(path, link);
  expect_parts(message_of<UsageError>([&] { require_distinct({path, link}); }), {link.string()});
  message_of<UsageError>([] { require_distinct({"x.png", "./x.png"}); });  // also if it is not there yet
}

TEST(Output, FilesOfTheirOwnAndEmptyPathsPass) {
  const auto path = fresh_path("x.png");
  EXPECT_NO_THROW(require_distinct({path, "", path.parent_path() / "y.png", ""}));
  EXPECT_NO_THROW(require_distinct({}));
}

}  // namespace
}  // namespace ergodic
