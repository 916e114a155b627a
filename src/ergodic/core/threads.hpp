// A pool of threads that works through numbered blocks.
//
// Each block of a job writes only its own outputs, so the result is the same for any number of threads. Callers from
// several threads take turns: a job begins when the one before has ended.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace ergodic {

class Threads {
 public:
  /// `count` threads in all, the caller's included, or as many as the system grants; 0 means one for each core.
  explicit Threads(std::size_t count);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  std::size_t count() const;

  /// Calls work(block) once for each block in [0, blocks), and returns when all are done. If any throws, the
  /// exception of the lowest block arrives here, after the others have finished. A block must not start another job on
  /// the same pool: that is a std::logic_error.
  void run(std::size_t blocks, const std::function<void(std::size_t)>& work);

 private:
  struct Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace ergodic
