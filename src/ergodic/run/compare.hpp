// `ergodic compare`: how far do a machine's own samples agree with data, in the means of its units and in their
// correlations?
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/estimator/correlations.hpp"
#include "ergodic/run/data_request.hpp"
#include "ergodic/run/mixing.hpp"
#include "ergodic/run/own_samples.hpp"

namespace ergodic {

struct CompareRequest {
  std::filesystem::path model;
  DataOptions data;
  Split split = Split::kTrain;
  OwnSamplesOptions sampling;
  std::filesystem::path path;  ///< the folder of a trajectory, for tempering; empty: no tempering
  std::uint64_t seed = 1;
  std::filesystem::path out;

  Spec spec();
};

struct CompareResult {
  std::size_t rows = 0;
  double effective_rows = 0.0;
  std::uint64_t samples = 0;  ///< all draws of all chains
  bool stopped = false;       ///< then there is nothing below
  Comparison comparison;
  std::vector<double> swapped;  ///< of tempering: how often each level swaps with the next
  std::optional<MixingReport> mixing;
};

/// Runs chains from a far start, and compares some states of their second half with the data. Warns if they have not
/// mixed. Draws the model's numbers over the data's if --out is given.
CompareResult compare_with_data(const CompareRequest& request, const Context& context);

std::string to_json(const CompareResult& result);
std::string to_text(const CompareResult& result);

/// Its part for other commands.
std::string to_json(const Comparison& comparison);
std::string to_text(const Comparison& comparison);

}  // namespace ergodic
