// A neural energy as tensors, in the layout of docs/format.md.
#pragma once

#include <string>

#include "ergodic/format/safetensors.hpp"
#include "ergodic/model/neural.hpp"

namespace ergodic {

inline constexpr const char* kNeuralKind = "neural";

void put_neural(Tensors& tensors, const Neural& model);

/// DataError if anything is missing, of another shape, or not finite.
Neural neural_from(const Tensors& tensors, const std::string& where);

}  // namespace ergodic
