// From a vector of bytes to a trained machine, its samples and the free energies of rows, all in memory.
#include <cstdio>
#include <ergodic/ergodic.hpp>

using namespace ergodic;

/// Sees each epoch, and could stop the run.
struct Epochs : Observer {
  void record(const Record& r) override {
    std::printf("epoch %2.0f  %s %.3f\n", r.epoch, r.values[0].first.c_str(), r.values[0].second);
  }
};

int main() {
  std::vector<std::uint8_t> bytes(400 * 16);  // 400 rows: a block of four bits is on, at one of four places
  for (std::size_t r = 0; r < 400; ++r) {
    for (std::size_t i = 0; i < 4; ++i) bytes[r * 16 + 4 * (r % 4) + i] = 1;
  }
  const Dataset data = dataset_of(rows_view(std::span<const std::uint8_t>(bytes), 400, 16), {"blocks", {4, 4}});

  Threads threads(0);  // one for each core
  Epochs epochs;
  const Context context{&threads, &epochs};
  const Key seed{1};
  const auto machine = kind_named("rbm").make({{"hidden", std::uint64_t{8}}}, data, seed, context);
  const TrainingData training = training_data(data, 0.1, seed);
  TrainOptions options;
  options.method = "exact";
  options.epochs = 400;
  options.learning_rate = 1.0;
  options.record_every = 100;
  fit(*machine, training, options, seed, context);

  const EvaluateResult found = evaluate(*machine, data, {}, seed, context);
  std::printf("log-likelihood %.3f nats a row, best possible %.3f\n", found.evaluation.log_likelihood->value,
              std::log(0.25));

  SamplingOptions sampling;
  sampling.sweeps = 1000;
  sampling.sampler = kTempering;  // the blocks are far apart: chains at one temperature would stay where they are
  SampleStart start;
  start.count = 6;
  const Samples samples = sample(*machine, sampling, start, {}, seed, context);
  const std::vector<double> energies = *machine->free_energies(samples.visible, context);
  for (std::size_t r = 0; r < samples.visible.chains(); ++r) {
    for (std::size_t i = 0; i < 16; ++i) std::putchar(samples.visible.bits().get(r, i) ? '#' : '.');
    std::printf("  F = %.2f\n", energies[r]);
  }
}
