// A classifier from a machine that needs no labels: an RBM learns what digits look like, its hidden layer becomes that
// of a network, and a few labels then teach that network to name them. All in memory.
#include <cstdio>
#include <ergodic/ergodic.hpp>

using namespace ergodic;

/// Trains a network on labelled rows, and tells how it does on rows that it has not seen.
double tested_error(const char* name, Network network, const TrainingData& labelled, const Dataset& test, Key seed,
                    const Context& context) {
  ClassifierOptions options;
  options.training.epochs = 60;
  options.training.batch = 20;
  ClassifierFit fit(network, labelled, options, seed);
  fit.run([] {}, context);  // the function is called after each update: a program may save, draw or stop there
  // p(class | row) of each row, and what is wrong with it: error, log loss, calibration, confusion of classes.
  const Matrix<float> probabilities = class_probabilities(network, test, context);
  const ClassifierReport report = judge(probabilities, test.labels);
  std::printf("%-28s error %4.1f %% (95 %% interval %.1f to %.1f), log loss %.3f nats\n", name,
              100 * report.scores.error, 100 * report.error_lower, 100 * report.error_upper, report.scores.log_loss);
  return report.scores.error;
}

int main() {
  Threads threads(0);  // one for each core
  const Context context{&threads};
  const Key seed{1};

  // Rows, labels and a test part. "mnist" and other sets that `ergodic data get` brings are loaded in the same way; an
  // array in memory becomes a Dataset by dataset_of and set_labels. Grey levels stay what they are: an RBM sees bits
  // that each epoch draws anew, the network sees the levels.
  DataOptions source;
  source.source = "digits:3000";
  source.binarise = Binarise::kDynamic;
  const DataParts parts = load_data(source, context);
  TrainingData all{parts.train, {}};
  all.train.labels.clear();
  const std::size_t inputs = parts.train.units(), classes = parts.train.classes();

  // Five labels of each class; nobody has looked at the others.
  const TrainingData labelled{rows_per_class(parts.train, 5, seed), {}};

  // Without hidden layers a network is logistic regression on the pixels.
  const std::vector<std::uint64_t> none, hidden{200};
  tested_error("pixels alone", random_network(inputs, none, classes, Activation::kSigmoid, seed), labelled, parts.test,
               seed, context);
  tested_error("200 random hidden units", random_network(inputs, hidden, classes, Activation::kSigmoid, seed), labelled,
               parts.test, seed, context);

  // Pre-training sees all rows and no labels. Any kind of machine with hidden layers will do; several layers of RBMs
  // are a deep belief network.
  TrainOptions pretraining;
  pretraining.updates = 2000;
  const std::unique_ptr<Machine> machine = machine_to_pretrain("rbm", hidden, all, seed, context);
  fit(*machine, all, pretraining, seed, context);
  const Network network = network_from(*machine, parts.train, classes, Activation::kSigmoid, context);
  const double error = tested_error("200 hidden units of an RBM", network, labelled, parts.test, seed, context);
  std::printf("pre-trained: %.1f %% of %zu test rows are wrong, from %zu labels\n", 100 * error, parts.test.rows(),
              labelled.train.rows());
}
