// `ergodic inspect`: what is in a model file?
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
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
  std::string visible_type, hidden_type;
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
