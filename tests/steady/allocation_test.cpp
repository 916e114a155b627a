// A program of its own, because it replaces operator new.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "ergodic/ergodic.hpp"

namespace {
std::atomic<std::size_t> allocations = 0;
}

// Not inlined: GCC would otherwise see free() called on what `new` returned, and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  ++allocations;
  const auto align = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(align, (size + align - 1) / align * align)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace ergodic {
namespace {

/// Counts what is allocated between two updates of one epoch.
class Counter : public Observer {
 public:
  void progress(const Progress& p) override {
    if (p.done == kFirst) before_ = allocations;
    if (p.done == kLast) after_ = allocations;
  }
  std::size_t counted() const { return after_ - before_; }

  static constexpr std::uint64_t kFirst = 10, kLast = 38;

 private:
  std::size_t before_ = 0, after_ = 0;
};

Dataset random_rows(std::size_t rows, std::size_t units) {
  Dataset out{"rows", Bits(rows, units)};
  const Draw draw = Key{1}.at(Purpose::kTest);
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint32_t i = 0; i < units; ++i) out.bits().set(r, i, draw.uniform(r, i) < 0.2);
  }
  return out;
}

TEST(SteadyState, AnUpdateAllocatesNothing) {
  const Dataset data = random_rows(2000, 100);
  for (const Layer& hidden : {Layer{Bernoulli{70}}, Layer{Spin{70}}}) {
    for (const std::string method : {"cd", "pcd", "fpcd"}) {
      for (const std::size_t count : {1u, 2u}) {
        Threads threads(count);
        Counter counter;
        Rbm machine(Bernoulli{100}, hidden);
        TrainOptions options;
        options.method = method;
        options.batch = options.chains = 50;
        options.epochs = 1;
        options.decay = {1e-4, 1e-4};
        options.sgd.momentum = 0.5;
        initialise(machine, data, 0.01, Key{2}, {});
        Trainer trainer = trainer_of(machine, data, {}, options, Key{2}, Context{&threads});
        ASSERT_EQ(trainer.updates_per_epoch(), 40u);
        ASSERT_TRUE(trainer.run([] {}, Context{&threads, &counter}));
        EXPECT_EQ(counter.counted(), 0u) << count << " threads";
        EXPECT_GT(allocations, 0u);  // what came before was counted
      }
    }
  }
}

TEST(SteadyState, AnUpdateByAnyOptimiserAllocatesNothing) {
  const Dataset data = random_rows(2000, 100);
  for (const OptimiserKind kind : {OptimiserKind::kSgd, OptimiserKind::kAdam, OptimiserKind::kSpectral}) {
    Counter counter;
    Rbm machine(Bernoulli{100}, Bernoulli{70});
    TrainOptions options;
    options.batch = options.chains = 50;
    options.epochs = 1;
    options.learning_rate = 0.001;
    options.optimiser = kind;
    options.average = 1.0;
    options.hidden_penalty = {.l1_squared = 1e-4, .sparsity = 0.1, .target = 0.2};
    initialise(machine, data, 0.01, Key{2}, {});
    Trainer trainer = trainer_of(machine, data, {}, options, Key{2}, {});
    ASSERT_TRUE(trainer.run([] {}, Context{nullptr, &counter}));
    EXPECT_EQ(counter.counted(), 0u) << name_of(kind);
  }
}

TEST(SteadyState, AnUpdateOfANetworkAllocatesNothing) {
  Dataset data = random_rows(2000, 100);
  for (int r = 0; r < 2000; ++r) data.labels.push_back(r % 3);
  const Dataset none{"none", Bits(0, 100)};
  for (const std::size_t count : {1u, 2u}) {
    Threads threads(count);
    const Context context{&threads};
    Network network({100, 150, 3}, Activation::kRelu);
    network.randomise(0, Key{1}.at(Purpose::kInitialWeights));
    const NetworkLearning options{.optimiser = Sgd{0.9},
                                  .dropout = {0.2, 0.5},
                                  .l2 = 1e-4,
                                  .max_norm = 1.0,
                                  .adversarial = 0.1,
                                  .smoothing = 0.1};
    NetworkLearner learner(network, data, none, options, Key{2});
    std::vector<std::uint32_t> rows(50);
    const auto learn = [&](std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t update = first; update < last; ++update) {
        for (std::uint32_t r = 0; r < 50; ++r) rows[r] = (static_cast<std::uint32_t>(update) * 50 + r) % 2000;
        learner.learn({update, 0, 0.1, rows}, context);
      }
    };
    learn(0, 30);
    const std::size_t before = allocations;
    learn(30, 60);
    // A thread has two buffers, which it makes when it takes its first block: perhaps only now.
    EXPECT_LE(allocations - before, 2 * (count - 1)) << count << " threads";
  }
}

}  // namespace
}  // namespace ergodic
