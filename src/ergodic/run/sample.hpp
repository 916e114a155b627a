// `ergodic sample` and `ergodic reconstruct`: pictures or arrays of what a machine believes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "ergodic/core/context.hpp"
#include "ergodic/run/data_request.hpp"
#include "ergodic/run/mixing.hpp"

namespace ergodic {

enum class SamplerKind { kGibbs, kMetropolis };

template <>
struct Names<SamplerKind> {
  static constexpr std::array<std::pair<SamplerKind, std::string_view>, 2> kAll{
      {{SamplerKind::kGibbs, "gibbs"}, {SamplerKind::kMetropolis, "metropolis"}}};
};

struct SampleRequest {
  std::filesystem::path model;
  std::uint64_t count = 100;
  std::uint64_t sweeps = 1000;
  SamplerKind sampler = SamplerKind::kGibbs;
  std::uint64_t flips = 1;
  bool means = false;
  std::uint64_t seed = 1;
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

struct SampleResult {
  std::filesystem::path out;
  std::uint64_t count = 0;
  std::uint64_t sweeps = 0;
  double seconds = 0.0;
  bool stopped = false;                ///< fewer sweeps than asked for, and nothing written
  std::optional<MixingReport> mixing;  ///< nothing if stopped
  std::optional<double> accepted;      ///< share of the proposals of the second half, of Metropolis sampling
};

struct ReconstructResult {
  bool real = false;  ///< whether the units are real
  std::filesystem::path out;
  std::uint64_t count = 0;
  double error = 0.0;  ///< expected share of units that differ between a row and a draw of its reconstruction; of real
                       ///< units the root of the mean squared difference
};

/// Runs `count` chains from a far start and writes their visible states: a sheet if --out ends in .png, an array if in
/// .npy. Warns if the chains have not mixed.
SampleResult draw_samples(const SampleRequest& request, const Context& context);

/// Writes rows of data beside their reconstructions: a sheet (.png), or the reconstructions' expected values (.npy).
ReconstructResult draw_reconstructions(const ReconstructRequest& request, const Context& context);

std::string to_json(const SampleResult& result);
std::string to_json(const ReconstructResult& result);

}  // namespace ergodic
