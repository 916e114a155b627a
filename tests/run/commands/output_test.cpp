#include "ergodic/run/commands/output.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/format/bytes.hpp"
#include "ergodic/format/file.hpp"
#include "ergodic/format/npy.hpp"
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

Matrix<float> rows_of(std::size_t cols, const std::vector<float>& values) {
  Matrix<float> out(values.size() / cols, cols);
  std::ranges::copy(values, out.elements().begin());
  return out;
}

std::string text_in(const std::filesystem::path& path) {
  const ByteVector bytes = read_file(path);
  return std::string(as_text(bytes));
}

TEST(WriteRows, SpinsAreWrittenAsTheirValues) {
  const auto path = fresh_path("x.csv");
  write_rows(path, rows_of(2, {0, 1, 0.75f, 0.5f}), {Spin{2}, RowValues::kMeans, {"a", "b"}});
  EXPECT_EQ(text_in(path), "a,b\n-1,1\n0.5,0\n");
  write_rows(path, rows_of(2, {0, 1}), {Bernoulli{2}, RowValues::kDrawn});
  EXPECT_EQ(text_in(path), "0,1\n");
}

TEST(WriteRows, LettersAreOneNumberOrCharacterForEachSite) {
  const auto path = fresh_path("x.csv"), array = path.parent_path() / "x.npy", fasta = path.parent_path() / "x.fasta";
  const Layer letters = Potts::make(6, 3);
  const Matrix<float> drawn = rows_of(6, {0, 0, 1, 1, 0, 0});
  write_rows(path, drawn, {letters, RowValues::kDrawn});
  EXPECT_EQ(text_in(path), "2,0\n");
  write_rows(path, drawn, {letters, RowValues::kDrawn, {}, "AC-"});
  EXPECT_EQ(text_in(path), "site 1,site 2\n-,A\n");
  write_rows(fasta, drawn, {letters, RowValues::kDrawn, {}, "AC-"});
  EXPECT_EQ(text_in(fasta), ">sample 1\n-A\n");
  write_rows(array, drawn, {letters, RowValues::kDrawn});
  EXPECT_TRUE(same(read_npy(array), array_of<std::uint8_t>(ElementType::kUInt8, {1, 2}, {2, 0})));
  write_rows(path, rows_of(6, {0.5f, 0.25f, 0.25f, 1, 0, 0}), {letters, RowValues::kMeans, {"x", "y"}, "AC-"});
  EXPECT_EQ(text_in(path), "x=A,x=C,x=-,y=A,y=C,y=-\n0.5,0.25,0.25,1,0,0\n");
}

TEST(WriteRows, ALabelIsAColumnOfItsOwn) {
  const auto path = fresh_path("x.csv");
  const Layer layer = joined({Bernoulli{2}, Potts::make(3, 3)});
  write_rows(path, rows_of(5, {1, 0, 0, 0, 1}), {layer, RowValues::kDrawn});
  EXPECT_EQ(text_in(path), "unit 1,unit 2,label\n1,0,2\n");
}

TEST(WriteRows, SequencesNeedAnAlphabet) {
  expect_parts(message_of<UsageError>([] {
                 require_rows_file("x.fasta", {Bernoulli{1}, RowValues::kDrawn, {}, ""});
               }),
               {"alignment"});
  expect_parts(message_of<UsageError>([] {
                 require_rows_file("x.fasta", {Bernoulli{1}, RowValues::kMeans, {}, "AC"});
               }),
               {"means"});
  EXPECT_NO_THROW(require_rows_file("x.fasta", {Bernoulli{1}, RowValues::kDrawn, {}, "AC"}));
  EXPECT_NO_THROW(require_rows_file("x.csv", {Bernoulli{1}, RowValues::kMeans, {}, ""}));
}

}  // namespace
}  // namespace ergodic
