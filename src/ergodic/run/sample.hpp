// `ergodic sample` and `ergodic reconstruct`: pictures or arrays of what a machine believes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/run/data_request.hpp"
#include "ergodic/run/mixing.hpp"
#include "ergodic/run/sampling.hpp"

namespace ergodic {

struct SampleRequest {
  std::filesystem::path model;
  std::uint64_t count = 100;
  SamplingOptions sampling;
  std::filesystem::path path;  ///< the folder of a trajectory, for tempering
  bool means = false;
  std::uint64_t seed = 1;
  std::filesystem::path watch;  ///< the weights of a sum that is watched too
  DataOptions data;             ///< rows at which chains start, or none
  Split split = Split::kAuto;
  std::filesystem::path fixed;  ///< the mask of the units that stay, with such rows
  std::filesystem::path out;

  Spec spec();
};

struct ReconstructRequest {
  std::filesystem::path model;
  DataOptions data;
  Split split = Split::kAuto;
  std::uint64_t count = 50;
  std::uint64_t seed = 1;
  std::filesystem::path out;

  Spec spec();
};

/// What annealing found.
struct LowestEnergy {
  double energy = 0.0;
  std::uint64_t chains = 0;  ///< that came as low, but for rounding
};

struct SampleResult {
  std::filesystem::path out;
  std::uint64_t count = 0;
  std::uint64_t sweeps = 0;
  double seconds = 0.0;
  bool stopped = false;                ///< fewer sweeps than asked for, and nothing written
  std::optional<MixingReport> mixing;  ///< nothing if stopped, or annealed
  std::optional<double> accepted;      ///< share of the proposals of the second half, if there are any
  std::vector<double> swapped;         ///< of tempering: how often each level swaps with the next
  std::optional<LowestEnergy> lowest;  ///< of annealing
};

struct ReconstructResult {
  bool real = false;  ///< whether the units are real
  std::filesystem::path out;
  std::uint64_t count = 0;
  double error = 0.0;  ///< expected share of units that differ between a row and a draw of its reconstruction; of real
                       ///< units the root of the mean squared difference
};

/// Runs `count` chains, from a far start or from rows of data some of whose units stay, and writes their visible states
/// (of annealing, the lowest seen): a sheet if --out ends in .png, an array if in .npy. Warns if the chains have not
/// mixed.
SampleResult draw_samples(const SampleRequest& request, const Context& context);

/// Writes rows of data beside their reconstructions: a sheet (.png), or the reconstructions' expected values (.npy).
ReconstructResult draw_reconstructions(const ReconstructRequest& request, const Context& context);

std::string to_json(const SampleResult& result);
/// What is known of the sampler and of the chains, for a person.
std::string to_text(const SampleResult& result);
std::string to_json(const ReconstructResult& result);

}  // namespace ergodic
