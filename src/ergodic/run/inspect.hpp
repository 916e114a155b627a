// `ergodic inspect`: what is in a model file?
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/run/spec.hpp"

namespace ergodic {

struct InspectRequest {
  std::filesystem::path model;
  std::filesystem::path filters;
  std::uint64_t filter_count = 100;

  Spec spec();
};

struct InspectResult {
  struct Range {
    double smallest = 0.0, largest = 0.0, root_mean_square = 0.0;
  };
  std::string kind, name;  ///< as in the file, and for a person
  std::size_t visible = 0, hidden = 0;
  std::optional<std::size_t> edges;  ///< of a machine on a graph
  std::string visible_type, hidden_type;
  std::string rule;                 ///< of a Hopfield network: how its patterns were stored
  std::size_t patterns = 0;         ///< that the modern form holds; of the others the couplings do not tell
  double beta = 0.0;                ///< of the modern form
  std::vector<std::size_t> layers;  ///< hidden ones of a neural energy, which has no hidden units to be drawn
  std::size_t parameters = 0;
  std::map<std::string, Range> ranges;  ///< for each parameter slot
  std::map<std::string, std::string> notes;
  bool verified = false;
};

/// Reads the file, and draws the filters if asked to.
InspectResult inspect(const InspectRequest& request);

std::string to_json(const InspectResult& result);
std::string to_text(const InspectResult& result);

}  // namespace ergodic
