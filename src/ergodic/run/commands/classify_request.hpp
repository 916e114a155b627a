// What `ergodic classify fit` is asked for.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "ergodic/option/spec.hpp"
#include "ergodic/run/commands/data.hpp"
#include "ergodic/trainer/network_learner.hpp"
#include "ergodic/trainer/train_options.hpp"

namespace ergodic {

template <>
struct Names<Activation> {
  static constexpr std::array<Named<Activation>, 2> kAll{
      {{Activation::kSigmoid, "sigmoid", "the hidden units of an RBM"}, {Activation::kRelu, "relu", "max(0, field)"}}};
};

enum class OptimiserName { kSgd, kAdam };
template <>
struct Names<OptimiserName> {
  static constexpr std::array<Named<OptimiserName>, 2> kAll{
      {{OptimiserName::kSgd, "sgd", "stochastic gradient descent with momentum"},
       {OptimiserName::kAdam, "adam", "steps in units of the gradient's own size"}}};
};

struct FitRequest {
  FitRequest() { data.binarise = Binarise::kDynamic; }

  DataOptions data;
  double held_out = 0.05;
  std::optional<std::uint64_t> labels_per_class;
  std::string model = "rbm";
  std::optional<Counts> hidden;
  std::optional<Activation> activation;
  std::filesystem::path from;
  bool random_start = false;
  bool compare_random = false;
  std::optional<std::uint64_t> pretrain_updates;
  std::optional<double> pretrain_rate;
  TrainOptions training;
  OptimiserName optimiser = OptimiserName::kSgd;
  double momentum = 0.9;
  NetworkLearning network;
  std::uint64_t seed = 1;
  std::filesystem::path out;
  std::filesystem::path report;
  double checkpoint_every = 60.0;
  bool resume = false;

  bool pretrained() const { return !random_start && from.empty(); }
  /// Units of the hidden layers, if no model file gives them.
  Counts layers() const {
    const Counts given = hidden.value_or(Counts{500});
    return given == Counts{0} ? Counts{} : given;
  }
};

Spec<FitRequest> classify_fit_spec();

}  // namespace ergodic
