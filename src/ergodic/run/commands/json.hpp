// Results of run/ as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "ergodic/estimator/mixing.hpp"
#include "ergodic/machine/facts.hpp"
#include "ergodic/run/compare.hpp"
#include "ergodic/run/evaluate.hpp"
#include "ergodic/run/final_likelihood.hpp"
#include "ergodic/run/quality.hpp"

namespace ergodic {

using Json = nlohmann::ordered_json;

Json json_of(const std::optional<Estimate>& estimate);
Json json_of(const EvaluateResult& result);
Json json_of(const FinalLikelihood& found);
Json json_of(const MixingReport& report);
/// True, false, or null if it is not known.
Json mixed_of(const MixingReport& report);
Json json_of(const Comparison& comparison);
Json json_of(const Quality& quality);
/// Adds each fact under its name.
void add_facts(Json& out, const Facts& facts);

/// As commands print it.
std::string printed(const Json& json);

}  // namespace ergodic
