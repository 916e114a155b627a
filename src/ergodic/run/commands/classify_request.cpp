#include "ergodic/run/commands/classify_request.hpp"

#include <fmt/format.h>

#include "ergodic/machine/kinds.hpp"
#include "ergodic/run/commands/request.hpp"

namespace ergodic {
namespace {

/// The kinds of machine with hidden layers that a network can begin with.
std::vector<Choice> pretraining_choices() {
  std::vector<Choice> out;
  for (const MachineKind* kind : machine_kinds()) {
    if (kind->pretrains()) out.push_back({std::string(kind->name), std::string(kind->help)});
  }
  return out;
}

/// What `ergodic train` has, times the gain of each kind.
std::string pretraining_rates() {
  std::string out = "that of `ergodic train`";
  for (const MachineKind* kind : machine_kinds()) {
    if (kind->pretrains() && kind->pretraining_gain != 1.0) {
      out += fmt::format("; {} {} times as much", kind->name, kind->pretraining_gain);
    }
  }
  return out;
}

void add_training(Spec<FitRequest>& spec) {
  spec.group("Fine-tuning")
      .add(
          "epochs", [](auto& r) -> auto& { return r.training.epochs; }, "passes through the labelled rows")
      .range(1, 1e9)
      .automatic("30, but at least 3000 updates, 6000 with smoothing")
      .add(
          "batch", [](auto& r) -> auto& { return r.training.batch; }, "rows of a mini-batch")
      .range(1, 1e9)
      .automatic("100")
      .add(
          "learning-rate", [](auto& r) -> auto& { return r.training.learning_rate; }, "learning rate at the start")
      .range(1e-9, 1000.0)
      .automatic("0.4; of relu units, or with dropout, 0.1; of both 0.05; adam 0.001")
      .add(
          "schedule", [](auto& r) -> auto& { return r.training.schedule; }, "how the learning rate falls")
      .advanced()
      .add("optimiser", &FitRequest::optimiser, "how steps are made of gradients")
      .add("momentum", &FitRequest::momentum, "momentum coefficient of sgd")
      .range(0.0, 0.9999)
      .advanced()
      .add(
          "dropout", [](auto& r) -> auto& { return r.network.dropout.hidden; },
          "share of hidden units left out at random")
      .range(0.0, 0.95)
      .add(
          "input-dropout", [](auto& r) -> auto& { return r.network.dropout.inputs; },
          "share of inputs left out at random")
      .range(0.0, 0.95)
      .add(
          "max-norm", [](auto& r) -> auto& { return r.network.max_norm; },
          "largest norm of the weights that lead to a unit; 0: no limit")
      .range(0.0, 1e6)
      .add(
          "l2", [](auto& r) -> auto& { return r.network.l2; }, "L2 penalty on the weights")
      .range(0.0, 1e6)
      .add(
          "adversarial", [](auto& r) -> auto& { return r.network.adversarial; },
          "adversarial training: move rows so far, as a share of their distance from the mean, to where their label is "
          "less probable; 0: not")
      .range(0.0, 1e6)
      .automatic("0.2; if only the softmax learns 0")
      .add(
          "smoothing", [](auto& r) -> auto& { return r.network.smoothing; },
          "virtual adversarial training: keep the probabilities of classes as they are when rows, with or without a "
          "label, move so far, as a share of their distance from the mean, to where they would change most; 0: not")
      .range(0.0, 1e6)
      .automatic("0.3 if there are rows without a label, else 0; if only the softmax learns 0")
      .add(
          "frozen", [](auto& r) -> auto& { return r.network.frozen; },
          "keep the hidden layers as they are: the softmax alone learns, by logistic regression on the hidden units")
      .add(
          "patience", [](auto& r) -> auto& { return r.training.patience; },
          "end after so many epochs without a better state on held-out rows; 0: never")
      .range(0, 1e9);
}

}  // namespace

Spec<FitRequest> classify_fit_spec() {
  Spec<FitRequest> spec;
  spec.include(data_spec(), &FitRequest::data);
  spec.group("Data")
      .add("held-out", &FitRequest::held_out, "share of the labelled rows by which the best state is chosen")
      .range(0.0, 0.9)
      .add("labels-per-class", &FitRequest::labels_per_class,
           "learn from the labels of so many rows of each class; all rows serve pre-training")
      .range(1, 1e9)
      .automatic("all");
  spec.group("Network")
      .add("hidden", &FitRequest::hidden,
           "units of each hidden layer, the lowest first; 0: none, which is logistic regression")
      .range(0, 1000000)
      .automatic("500")
      .add("model", &FitRequest::model, "the kind of machine that pre-trains the hidden layers")
      .choices(pretraining_choices())
      .add("activation", &FitRequest::activation,
           "of hidden units; pre-trained ones are sigmoids, or rectified units that begin close to them")
      .automatic("relu from 10000 labelled rows up; sigmoid if fewer have labels, or with --frozen")
      .add("from", &FitRequest::from, "begin with the hidden layer of this model file instead of pre-training")
      .role(PathRole::kInput)
      .add("random-start", &FitRequest::random_start, "begin with random weights instead of pre-training")
      .add("compare-random", &FitRequest::compare_random,
           "also train the same network from random weights, for comparison: OUT.random")
      .add("pretrain-updates", &FitRequest::pretrain_updates, "updates of the machine that pre-trains")
      .range(1, 1e12)
      .automatic("twice as many as `ergodic train` has")
      .add("pretrain-rate", &FitRequest::pretrain_rate, "learning rate of the machine that pre-trains, at the start")
      .range(1e-9, 1000.0)
      .automatic(pretraining_rates());
  add_training(spec);
  add_seed(spec, &FitRequest::seed);
  spec.group("Output")
      .add("out", &FitRequest::out, "where the classifier goes")
      .role(PathRole::kOutput)
      .required()
      .not_part_of_result()
      .add("report", &FitRequest::report,
           "an HTML page with curves of the error, the confusion of classes and mistakes")
      .role(PathRole::kOutput)
      .not_part_of_result()
      .add("checkpoint-every", &FitRequest::checkpoint_every, "seconds between two checkpoints (beside --out)")
      .range(0.0, 1e9)
      .advanced()
      .not_part_of_result()
      .add("resume", &FitRequest::resume, "go on from the checkpoint beside --out; without one, start")
      .not_part_of_result();
  return spec;
}

}  // namespace ergodic
