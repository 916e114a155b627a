#include "ergodic/core/threads.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace ergodic {

namespace {

constexpr auto kSpinTime = std::chrono::microseconds(50);  // longer than the pause between two kernels of a step

/// Waits for `ready` a short while without giving up the core. Whether it came. The pause instruction is not used:
/// virtual machines take many of them for a sign that the core has nothing to do.
template <class Ready>
bool spin_until(const Ready& ready) {
  const auto end = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int k = 0; k < 64; ++k) {
      if (ready()) return true;
    }
  } while (std::chrono::steady_clock::now() < end);
  return ready();
}

/// The pool whose job this thread is working on, to find a job within a job, which could never end.
thread_local const void* pool_of_this_thread = nullptr;

struct InJob {
  explicit InJob(const void* pool) : before(std::exchange(pool_of_this_thread, pool)) {}
  ~InJob() { pool_of_this_thread = before; }
  const void* before;
};

}  // namespace

// Threads take blocks from both ends: one that takes the same blocks of each job finds what it needs in its own caches.
struct Threads::Pool {
  /// Blocks [front, back) that no thread has taken.
  struct alignas(std::uint64_t) Claims {
    std::uint32_t front = 0, back = 0;
  };
  std::atomic<Claims> claims;  // a thread that takes a block from its current value takes it of the current job
  static_assert(std::atomic<Claims>::is_always_lock_free);
  std::atomic<const std::function<void(std::size_t)>*> work = nullptr;
  std::atomic<std::uint64_t> unfinished = 0;
  std::atomic<bool> closing = false;

  std::mutex mutex;  // of all below
  std::condition_variable woken;
  std::atomic<int> sleepers = 0;
  std::size_t failed_block = 0;
  std::exception_ptr failure;

  std::mutex caller;  // held while a job runs: callers wait for each other
  std::size_t wanted;
  std::once_flag started;
  std::vector<std::jthread> workers;

  explicit Pool(std::size_t count) : wanted(count) {}
  ~Pool() {  // then the workers are joined, being the last member
    closing = true;
    wake();
  }

  /// Starts the workers once one is needed: a command that only reads or lists something needs none.
  void start() {
    std::call_once(started, [this] {
      try {
        workers.reserve(wanted - 1);
        while (workers.size() + 1 < wanted)
          workers.emplace_back([this, front = workers.size() % 2 == 1] { serve(front); });
      } catch (const std::exception&) {
        // No memory, or as many threads as the system allows. Those that there are do the same work.
      }
    });
  }

  bool claimable() const {
    const Claims seen = claims.load();
    return seen.front < seen.back;
  }

  /// Takes blocks until none is left.
  void drain(bool from_front) {
    Claims seen = claims.load();
    while (seen.front < seen.back) {
      const Claims left = from_front ? Claims{seen.front + 1, seen.back} : Claims{seen.front, seen.back - 1};
      if (!claims.compare_exchange_weak(seen, left)) continue;
      do_block(from_front ? seen.front : left.back);
      seen = claims.load();
    }
  }

  void do_block(std::size_t block) {
    attempt(*work.load(), block);
    if (unfinished.fetch_sub(1) == 1) wake();
  }

  void attempt(const std::function<void(std::size_t)>& one, std::size_t block) {
    try {
      one(block);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure || block < failed_block) {
        failure = std::current_exception();
        failed_block = block;
      }
    }
  }

  void wake() {
    if (sleepers.load() == 0) return;
    { const std::lock_guard lock(mutex); }  // no thread is between looking and falling asleep
    woken.notify_all();
  }

  /// Returns when `ready`, after a while asleep.
  template <class Ready>
  void wait_until(const Ready& ready) {
    if (spin_until(ready)) return;
    std::unique_lock lock(mutex);
    ++sleepers;
    woken.wait(lock, ready);
    --sleepers;
  }

  void serve(bool from_front) {
    const InJob in_job(this);
    while (true) {
      wait_until([this] { return closing.load() || claimable(); });
      if (closing.load()) return;
      drain(from_front);
    }
  }
};

Threads::Threads(std::size_t count)
    : pool_(std::make_unique<Pool>(count > 0 ? count : std::max(1u, std::thread::hardware_concurrency()))) {}

Threads::~Threads() = default;

std::size_t Threads::count() const {
  pool_->start();
  return pool_->workers.size() + 1;
}

void Threads::run(std::size_t blocks, const std::function<void(std::size_t)>& work) {
  if (blocks == 0) return;
  if (blocks == 1) return work(0);
  Pool& pool = *pool_;
  if (pool_of_this_thread == &pool) throw std::logic_error("a block of a pool's job started another job on the pool");
  pool.start();
  const std::lock_guard one_caller(pool.caller);
  const InJob in_job(&pool);
  if (pool.workers.empty()) {
    for (std::size_t block = 0; block < blocks; ++block) pool.attempt(work, block);
  } else {
    // All blocks of the last job are taken and done, and none can be claimed until all of this one is known.
    assert(blocks <= std::numeric_limits<std::uint32_t>::max());
    pool.work = &work;
    pool.unfinished = blocks;
    pool.claims = {0, static_cast<std::uint32_t>(blocks)};
    pool.wake();
    pool.drain(true);
    pool.wait_until([&pool] { return pool.unfinished.load() == 0; });
  }
  if (const auto failure = std::exchange(pool.failure, nullptr)) std::rethrow_exception(failure);
}

}  // namespace ergodic
