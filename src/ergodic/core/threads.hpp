// A pool of threads that works through numbered blocks.
//
// Each block writes only its own outputs, and no output may depend on where blocks begin. So the result is the same for
// any number of threads. Most work is cut by its size alone; where the number of threads decides, the bits do not
// depend on it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace ergodic {

class Threads {
 public:
  /// `count` threads in all, the caller's included; 0 means one for each core.
  explicit Threads(std::size_t count);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  std::size_t count() const;

  /// Calls work(block) once for each block in [0, blocks), and returns when all are done. If any throws, the
  /// exception of the lowest block arrives here, after the others have finished.
  void run(std::size_t blocks, const std::function<void(std::size_t)>& work);

 private:
  struct Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace ergodic
