// Deep machines in a program: a deep belief network, trained layer by layer, and a deep Boltzmann machine, trained as a
// whole, learn the same pictures. Both are so small that their likelihood is a sum; of larger ones the same functions
// give a bound, and a bracket.
#include <cstdio>
#include <ergodic/ergodic.hpp>

using namespace ergodic;

int main() {
  Threads threads(0);  // one for each core
  const Context context{&threads};
  const Key seed{1};

  Dataset pictures = bars_and_stripes(3);
  pictures.labels.clear();  // a deep belief network would learn them too
  const TrainingData data{pictures, {}};

  for (const char* kind : {"dbn", "dbm"}) {
    const std::unique_ptr<Machine> machine =
        kind_named(kind).make({{"hidden", Counts{12, 8}}}, data.train, seed, context);
    TrainOptions options;
    options.updates = 20000;
    fit(*machine, data, options, seed, context);

    const Evaluation found = evaluate(*machine, data.train, {}, seed, context).evaluation;
    std::printf("%s: log-likelihood %.3f nats a row\n", kind, found.log_likelihood->value);

    // What each hidden layer makes of the rows, and what the machine draws by itself.
    const OpenRows rows = open_rows_of(machine->visible(), data.train, seed);
    for (std::uint64_t layer = 1; layer <= machine->hidden_layers(); ++layer) {
      const Features features = ergodic::features(*machine, rows, {layer}, seed, context);
      std::printf("  layer %zu: %zu features of each of %zu rows\n", static_cast<std::size_t>(layer),
                  features.values.cols(), features.values.rows());
    }
    SampleStart start;
    start.count = 1000;
    const Samples drawn = sample(*machine, {}, start, {}, seed, context);
    std::size_t right = 0;
    for (std::size_t s = 0; s < drawn.visible.chains(); ++s) {
      bool known = false;
      for (std::size_t r = 0; r < pictures.rows() && !known; ++r) {
        known = std::ranges::equal(drawn.visible.bits().row(s), pictures.bits().row(r));
      }
      right += known ? 1 : 0;
    }
    std::printf("  %zu of %zu samples are bars or stripes\n", right, drawn.visible.chains());
  }
}
