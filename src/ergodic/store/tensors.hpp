// Between tensors and what they mean: typed arrays in and out, checked metadata, parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ergodic/format/safetensors.hpp"
#include "ergodic/model/parameters.hpp"

namespace ergodic {

/// The metadata under a key; DataError if it is missing.
const std::string& metadata_at(const Tensors& tensors, const std::string& key, const std::string& where);

/// The versions of a format that can be read.
struct Versions {
  int oldest, newest;
};
/// DataError unless the metadata says this format and one of these versions.
void check_format(const Tensors& tensors, const std::string& format, Versions versions, const std::string& where);

/// Says in the metadata that this is a model file, and of what kind of machine.
void put_model_kind(Tensors& tensors, const std::string& kind);
/// The kind of machine in a model file; DataError if it is no model file, or of a version that cannot be read.
const std::string& model_kind(const Tensors& tensors, const std::string& where);

/// The units of layers in the metadata, such as 784,500,10, each at least 1; DataError otherwise.
std::vector<std::size_t> sizes_at(const Tensors& tensors, const std::string& key, const std::string& where);

/// The rows and columns of a tensor, at least 1 of each; DataError otherwise, or if there is none.
std::pair<std::size_t, std::size_t> matrix_shape(const Tensors& tensors, const std::string& name,
                                                 const std::string& where);

/// An array of floats (32 or 64 bits) of exactly this shape, every element finite and of a magnitude that can be
/// computed with: up to 10^15, and up to 80 if the name ends in "log_precision"; DataError otherwise.
std::vector<float> floats_at(const Tensors& tensors, const std::string& name, const std::vector<std::size_t>& shape,
                             const std::string& where);

/// Copies elements into an array of that type.
Array array_of(std::span<const float> values, std::vector<std::size_t> shape);
Array array_of(std::span<const double> values, std::vector<std::size_t> shape);
Array array_of(std::span<const std::uint64_t> values, std::vector<std::size_t> shape);

/// A tensor for each slot of a machine's parameters. NumericError if they could not be read back.
void put_parameters(Tensors& tensors, const Parameters& parameters);
/// Parameters with the slots of these, from the tensors of their names.
Parameters parameters_from(const Tensors& tensors, const Parameters& shape, const std::string& where);

}  // namespace ergodic
