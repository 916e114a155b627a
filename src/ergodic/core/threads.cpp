#include "ergodic/core/threads.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace ergodic {

struct Threads::Pool {
  std::mutex mutex;
  std::condition_variable work_ready;
  std::condition_variable work_done;
  // All below is guarded by `mutex`.
  const std::function<void(std::size_t)>* work = nullptr;
  std::size_t blocks = 0;
  std::size_t next_block = 0;
  std::size_t unfinished = 0;
  std::size_t failed_block = 0;
  std::exception_ptr failure;
  bool closing = false;
  std::vector<std::jthread> workers;

  /// Takes blocks until none is left. Called, and returns, with the lock held.
  void drain(std::unique_lock<std::mutex>& lock) {
    while (next_block < blocks) {
      const std::size_t block = next_block++;
      const auto& task = *work;
      lock.unlock();
      std::exception_ptr thrown;
      try {
        task(block);
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
      if (thrown && (!failure || block < failed_block)) {
        failure = thrown;
        failed_block = block;
      }
      if (--unfinished == 0) work_done.notify_all();
    }
  }

  void serve() {
    std::unique_lock lock(mutex);
    while (true) {
      work_ready.wait(lock, [this] { return closing || next_block < blocks; });
      if (closing) return;
      drain(lock);
    }
  }
};

Threads::Threads(std::size_t count) : pool_(std::make_unique<Pool>()) {
  if (count == 0) count = std::max(1u, std::thread::hardware_concurrency());
  for (std::size_t i = 1; i < count; ++i) pool_->workers.emplace_back([pool = pool_.get()] { pool->serve(); });
}

Threads::~Threads() {
  {
    const std::lock_guard lock(pool_->mutex);
    pool_->closing = true;
  }
  pool_->work_ready.notify_all();
}

std::size_t Threads::count() const { return pool_->workers.size() + 1; }

void Threads::run(std::size_t blocks, const std::function<void(std::size_t)>& work) {
  if (blocks == 0) return;
  std::unique_lock lock(pool_->mutex);
  pool_->work = &work;
  pool_->blocks = blocks;
  pool_->next_block = 0;
  pool_->unfinished = blocks;
  pool_->failure = nullptr;
  if (blocks > 1 && !pool_->workers.empty()) pool_->work_ready.notify_all();
  pool_->drain(lock);
  pool_->work_done.wait(lock, [this] { return pool_->unfinished == 0; });
  pool_->work = nullptr;
  pool_->blocks = 0;
  if (const auto failure = std::exchange(pool_->failure, nullptr)) std::rethrow_exception(failure);
}

}  // namespace ergodic
