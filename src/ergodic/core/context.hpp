// Context: where the threads are, and who listens. Passed last to everything that may take long.
//
// The library never prints, never exits and never reads the clock for a decision; it tells the Observer, and asks it
// whether to stop. Everything that a user sees of a run comes from an Observer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ergodic/core/profile.hpp"
#include "ergodic/core/threads.hpp"

namespace ergodic {

/// A part of a long computation: what is done now, and what its progress counts.
struct Stage {
  std::string name;  ///< "annealing"
  std::string unit;  ///< "sweeps"; empty if progress is that of a whole that this is a part of
};

/// How far a stage has come, in its own units (updates, sweeps, states).
struct Progress {
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  std::uint64_t per_epoch = 0;  ///< how many units make an epoch; 0 if the work has none
};

/// One row of the learning curve: named numbers at a moment of the run.
struct Record {
  std::uint64_t update = 0;
  double epoch = 0.0;
  std::vector<std::pair<std::string, double>> values;
};

/// Listens to a computation. Each method is called by the thread that started the computation.
class Observer {
 public:
  virtual ~Observer() = default;
  /// A stage begins; the progress that follows is its own.
  virtual void stage(const Stage&) {}
  virtual void progress(const Progress&) {}
  virtual void record(const Record&) {}
  /// Something the user should know: a chain that does not mix, a unit that died.
  virtual void warn(const std::string&) {}
  /// Asked often; once true, the computation stops at the next point where nothing is lost.
  virtual bool stop_requested() { return false; }
  /// Something good to know before a long wait, and no reason to worry.
  virtual void note(const std::string&) {}
};

struct Context {
  Threads* threads = nullptr;    ///< null: the caller's thread alone
  Observer* observer = nullptr;  ///< null: nothing is shown, and nothing stops the work
  Profile* profile = nullptr;    ///< null: times are not measured

  void stage(const Stage& s) const {
    if (observer) observer->stage(s);
  }
  void progress(const Progress& p) const {
    if (observer) observer->progress(p);
  }
  void record(const Record& r) const {
    if (observer) observer->record(r);
  }
  void warn(const std::string& message) const {
    if (observer) observer->warn(message);
  }
  void note(const std::string& message) const {
    if (observer) observer->note(message);
  }
  bool stop_requested() const { return observer && observer->stop_requested(); }

  std::size_t thread_count() const { return threads ? threads->count() : 1; }

  /// Calls body(begin, end) over [0, count) in blocks of fixed size, on all threads.
  template <class Body>
  void for_blocks(std::size_t count, std::size_t block_size, const Body& body) const {
    for_blocks_of_all(
        1, [count](std::size_t) { return count; }, block_size,
        [&](std::size_t, std::size_t begin, std::size_t end) { body(begin, end); });
  }

  /// Calls body(k, begin, end) over [0, count_of(k)) for all k < kinds. Threads that are done with one go on with the
  /// next: they wait for each other once, not after each.
  template <class CountOf, class Body>
  void for_blocks_of_all(std::size_t kinds, const CountOf& count_of, std::size_t block_size, const Body& body) const {
    const auto blocks_of = [&](std::size_t k) { return (count_of(k) + block_size - 1) / block_size; };
    std::size_t blocks = 0;
    for (std::size_t k = 0; k < kinds; ++k) blocks += blocks_of(k);
    const auto one = [&](std::size_t b) {
      std::size_t k = 0;
      for (; b >= blocks_of(k); ++k) b -= blocks_of(k);
      body(k, b * block_size, std::min<std::size_t>(count_of(k), (b + 1) * block_size));
    };
    if (threads) {
      threads->run(blocks, std::cref(one));  // a reference: nothing is allocated
    } else {
      for (std::size_t b = 0; b < blocks; ++b) one(b);
    }
  }
};

}  // namespace ergodic
