#include "ergodic/format/lock.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "ergodic/core/error.hpp"
#include "format/damage.hpp"

namespace ergodic {
namespace {

namespace fs = std::filesystem;

TEST(Lock, IsHeldByOneAtATimeAndLeavesNothing) {
  const auto target = fresh_path("m.safetensors");
  std::optional<FileLock> first(target);
  EXPECT_TRUE(fs::exists(target.string() + ".lock"));
  EXPECT_THROW(FileLock second(target), IoError);
  EXPECT_NO_THROW(FileLock other(target.string() + "2"));
  first.reset();
  EXPECT_NO_THROW(FileLock second(target));
  EXPECT_TRUE(fs::is_empty(target.parent_path()));
}

TEST(Lock, AFileThatNobodyHoldsIsTakenOver) {
  const auto target = fresh_path("m.safetensors");
  std::ofstream(target.string() + ".lock") << "of a process that was killed";
  EXPECT_NO_THROW(FileLock lock(target));
  EXPECT_TRUE(fs::is_empty(target.parent_path()));
}

TEST(Lock, OneFileHasOneLockWhateverItIsCalled) {
  const auto target = fresh_path("m.safetensors");
  const auto folder = target.parent_path();
  std::ofstream(target) << "x";
  fs::create_symlink(target, folder / "link");
  const FileLock lock(target);
  EXPECT_THROW(FileLock other(folder / "link"), IoError);
  EXPECT_THROW(FileLock other(folder / "." / "m.safetensors"), IoError);
}

TEST(Lock, AFolderThatIsNotThereIsAnIoError) {
  EXPECT_THROW(FileLock lock(fresh_path("x") / "no" / "m.safetensors"), IoError);
}

}  // namespace
}  // namespace ergodic
