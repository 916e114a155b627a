#include "ergodic/format/file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>

#include "format/damage.hpp"

namespace ergodic {
namespace {

namespace fs = std::filesystem;

std::ptrdiff_t files_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

/// While it lives, no file of this process may grow beyond `bytes`: the nearest thing to a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_);
    rlimit limit = old_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit old_{};
  void (*old_handler_)(int);
};

TEST(File, WhatIsWrittenIsRead) {
  const auto path = fresh_path("data.bin");
  for (const std::size_t size : {0u, 1u, 4096u, 300000u}) {
    ByteVector content(size);
    for (std::size_t i = 0; i < size; ++i) content[i] = static_cast<std::byte>(i * 7);
    write_file(path, content);
    EXPECT_EQ(read_file(path), content);
    EXPECT_EQ(files_in(path.parent_path()), 1);
  }
}

TEST(File, ALongNameIsNoProblem) {
  const auto path = fresh_path(std::string(255, 'n'));
  write_file(path, bytes_from("x"));
  EXPECT_EQ(read_file(path), bytes_from("x"));
}

TEST(File, ANewFileHasTheUsualModeAndAnOldOneKeepsIts) {
  const auto path = fresh_path("data.bin");
  const mode_t old = ::umask(022);
  write_file(path, bytes_from("x"));
  ::umask(old);
  EXPECT_EQ(fs::status(path).permissions(), fs::perms{0644});
  fs::permissions(path, fs::perms{0600});
  write_file(path, bytes_from("y"));
  EXPECT_EQ(fs::status(path).permissions(), fs::perms{0600});
}

TEST(File, ALinkStaysALink) {
  const auto path = fresh_path("data.bin");
  const auto link = path.parent_path() / "link";
  write_file(path, bytes_from("old"));
  fs::create_symlink("data.bin", link);
  write_file(link, bytes_from("new"));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read_file(path), bytes_from("new"));
}

TEST(File, WritingToAMissingFolderSaysSo) {
  const auto path = fresh_path("missing") / "data.bin";
  try {
    write_file(path, bytes_from("x"));
    FAIL() << "expected an IoError";
  } catch (const IoError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(path.string()), std::string::npos) << message;
    EXPECT_NE(message.find("No such file or directory"), std::string::npos) << message;
  }
}

TEST(File, AFailedWriteLeavesTheTargetAndNoRubbish) {
  const auto path = fresh_path("data.bin");
  write_file(path, bytes_from("precious"));
  std::string message;
  {
    const FileSizeLimit limit(4096);
    try {
      write_file(path, ByteVector(10000));
    } catch (const IoError& error) {
      message = error.what();
    }
  }
  EXPECT_NE(message.find("File too large"), std::string::npos) << message;
  EXPECT_EQ(read_file(path), bytes_from("precious"));
  EXPECT_EQ(files_in(path.parent_path()), 1);
}

TEST(File, FoldersAndDevicesAreNotReplaced) {
  const auto path = fresh_path("folder");
  fs::create_directory(path);
  EXPECT_THROW(write_file(path, bytes_from("x")), IoError);
  EXPECT_TRUE(fs::is_directory(path));
  EXPECT_EQ(files_in(path.parent_path()), 1);
  const auto pipe = path.parent_path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(write_file(pipe, bytes_from("x")), IoError);
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST(File, WhatCannotBeReadIsNoInput) {
  const auto path = fresh_path("nothing");
  try {
    read_file(path);
    FAIL() << "expected a NoInputError";
  } catch (const NoInputError& error) {
    EXPECT_EQ(error.what(), "cannot read " + path.string() + ": No such file or directory");
  }
  EXPECT_THROW(read_file(path.parent_path()), NoInputError);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THROW(read_file(path), NoInputError);  // and does not wait for a writer
  EXPECT_THROW(read_file("/dev/zero"), NoInputError);
}

}  // namespace
}  // namespace ergodic
