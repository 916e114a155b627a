// `ergodic train`: from a request to a trained machine in a file, with checkpoints on the way.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/data/source.hpp"
#include "ergodic/run/final_likelihood.hpp"
#include "ergodic/run/hopfield.hpp"
#include "ergodic/run/mixing.hpp"
#include "ergodic/run/spec.hpp"
#include "ergodic/trainer/trainer.hpp"

namespace ergodic {

enum class UnitType { kBernoulli, kSpin, kPotts, kGaussian, kRelu };
enum class ModelKind { kRbm, kBoltzmann, kNeural, kHopfield };

template <>
struct Names<UnitType> {
  static constexpr std::array<std::pair<UnitType, std::string_view>, 5> kAll{{{UnitType::kBernoulli, Bernoulli::kName},
                                                                              {UnitType::kSpin, Spin::kName},
                                                                              {UnitType::kPotts, Potts::kName},
                                                                              {UnitType::kGaussian, Gaussian::kName},
                                                                              {UnitType::kRelu, Relu::kName}}};
};
template <>
struct Names<ModelKind> {
  static constexpr std::array<std::pair<ModelKind, std::string_view>, 4> kAll{{{ModelKind::kRbm, "rbm"},
                                                                               {ModelKind::kBoltzmann, "boltzmann"},
                                                                               {ModelKind::kNeural, "neural"},
                                                                               {ModelKind::kHopfield, "hopfield"}}};
};
template <>
struct Names<Method> {
  static constexpr std::array<std::pair<Method, std::string_view>, 5> kAll{{{Method::kPcd, "pcd"},
                                                                            {Method::kPopulation, "population"},
                                                                            {Method::kCd, "cd"},
                                                                            {Method::kExact, "exact"},
                                                                            {Method::kPseudo, "pseudo"}}};
};
template <>
struct Names<Schedule> {
  static constexpr std::array<std::pair<Schedule, std::string_view>, 3> kAll{
      {{Schedule::kLinear, "linear"}, {Schedule::kCosine, "cosine"}, {Schedule::kConstant, "constant"}}};
};

struct TrainRequest {
  DataOptions data;
  double held_out_share = 0.02;
  ModelKind model = ModelKind::kRbm;
  UnitType visible_type = UnitType::kBernoulli;
  UnitType hidden_type = UnitType::kBernoulli;
  std::uint64_t hidden = 0;  ///< 0: 500 of an RBM, none of a Boltzmann machine
  std::uint64_t hidden_letters = 4;
  std::string graph = "dense";      ///< of a Boltzmann machine
  std::string layers = "32,32,32";  ///< hidden layers of a neural energy
  HopfieldOptions hopfield;
  Method method = Method::kPcd;
  std::uint64_t steps = 1;
  std::uint64_t chains = 0;    ///< 0: as many as the batch has rows
  std::uint64_t batch = 0;     ///< 0: 100 (a neural energy 250), or all rows if there are fewer
  std::uint64_t epochs = 0;    ///< 0: 20, of a neural energy 60
  double learning_rate = 0.0;  ///< 0: 0.05, of a neural energy 0.01
  Schedule schedule = Schedule::kLinear;
  double momentum = 0.0;
  double l1 = 0.0;
  double l2 = 0.0;
  bool uncentred = false;
  double least_noise = 0.25;
  double weight_scale = 0.01;
  std::uint64_t seed = 1;
  std::filesystem::path out;
  std::filesystem::path log;
  std::filesystem::path report;
  std::filesystem::path trajectory;  ///< a folder
  double checkpoint_every = 60.0;    ///< seconds
  bool resume = false;
  bool profile = false;
  bool no_likelihood = false;

  Spec spec();
};

/// One stage of training: its share of the time of all threads, and how many multiplications of a plain product it does
/// in a cycle of a core.
struct StageShare {
  std::string stage;
  double seconds = 0.0;
  double share = 0.0;
  double macs_per_cycle = 0.0;  ///< 0 for a stage that replaces no product
};

struct TrainResult {
  std::filesystem::path model;       ///< empty if the run was stopped
  std::filesystem::path checkpoint;  ///< where a stopped run can be resumed from
  std::uint64_t updates = 0;
  double epochs = 0.0;
  double seconds = 0.0;                       ///< of training, since this start or resumption
  double samples_per_second = 0.0;            ///< rows of training data
  Record last;                                ///< the monitors at the last record
  std::vector<StageShare> profile;            ///< where the time went, if asked for
  std::optional<MixingReport> mixing;         ///< of the persistent chains, at the end
  std::optional<FinalLikelihood> likelihood;  ///< unless the monitors know it exactly
  std::optional<Memory> memory;  ///< what a Hopfield network holds; it has no updates, and none of the above
};

/// Trains until done, or until the observer asks to stop: then a checkpoint is written first.
TrainResult train(TrainRequest request, const Context& context);

std::string to_json(const TrainResult& result);

/// The profile as a table; empty without one.
std::string profile_text(const TrainResult& result);

}  // namespace ergodic
