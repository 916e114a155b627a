// `ergodic evaluate`: how good is a machine on data?
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "ergodic/core/context.hpp"
#include "ergodic/estimator/likelihood.hpp"
#include "ergodic/run/data_request.hpp"
#include "ergodic/run/own_samples.hpp"
#include "ergodic/run/quality.hpp"

namespace ergodic {

struct EvaluateRequest {
  std::filesystem::path model;
  DataOptions data;
  Split split = Split::kAuto;
  std::string budget = "5000";
  std::filesystem::path path;  ///< the folder of a trajectory; empty: the straight path
  std::uint64_t seed = 1;
  bool quality = false;
  OwnSamplesOptions sampling;

  Spec spec();
};

struct EvaluateResult {
  std::size_t rows = 0;
  Judgement judgement;
  std::string why_no_log_z;        ///< empty if there is one
  bool partial = false;            ///< stopped before the budget of annealing was spent
  std::optional<Quality> quality;  ///< if asked for, and not stopped before
};

EvaluateResult evaluate(const EvaluateRequest& request, const Context& context);

std::string to_json(const EvaluateResult& result);
/// The same for a person.
std::string to_text(const EvaluateResult& result);

}  // namespace ergodic
