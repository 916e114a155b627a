// Results of run/ as text for people.
#pragma once

#include <span>
#include <string>

#include "ergodic/estimator/mixing.hpp"
#include "ergodic/run/compare.hpp"
#include "ergodic/run/evaluate.hpp"
#include "ergodic/run/final_likelihood.hpp"
#include "ergodic/run/quality.hpp"

namespace ergodic {

std::string text_of(const EvaluateResult& result);
std::string text_of(const FinalLikelihood& found);
/// The verdict, unless it is a warning, which has been given.
std::string text_of(const MixingReport& report);
/// The table that the verdict is from; nothing if there is none.
std::string details_of(const MixingReport& report);
std::string text_of(const Comparison& comparison);
std::string text_of(const Quality& quality);
/// The least and the most of swap rates; nothing without tempering.
std::string swap_text(std::span<const double> swapped);

}  // namespace ergodic
