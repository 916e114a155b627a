#include "ergodic/store/tensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/core/number_text.hpp"
#include "ergodic/format/bytes.hpp"

namespace ergodic {
namespace {

constexpr const char* kModelFormat = "ergodic-model";
constexpr int kModelVersion = 1;

template <class T>
Array make_array(ElementType type, std::span<const T> values, std::vector<std::size_t> shape) {
  const std::span<const std::byte> bytes = std::as_bytes(values);
  return {type, std::move(shape), {bytes.begin(), bytes.end()}};
}

/// The largest magnitude of a number under this name. Beyond, results would not be finite: the sum of the squares of
/// 10^8 numbers of the first kind, and exp of the logarithms of precisions, still are 32-bit floats.
float largest_under(std::string_view name) { return name.ends_with("log_precision") ? 80.0f : 1e15f; }

template <class T>
std::vector<float> finite_floats(const Array& array, const std::string& name, const std::string& where) {
  std::vector<float> out(array.size());
  const float largest = largest_under(name);
  for (std::size_t k = 0; k < out.size(); ++k) {
    T value;
    std::memcpy(&value, array.bytes.data() + k * sizeof value, sizeof value);
    out[k] = static_cast<float>(value);
    if (!(std::abs(out[k]) <= largest)) {
      throw DataError(fmt::format("{}: {}: element {} is {:g}, expected a finite number from {:g} to {:g}", where, name,
                                  k, value, -largest, largest));
    }
  }
  return out;
}

const Array& array_at(const Tensors& tensors, const std::string& name, const std::string& where) {
  if (const Array* array = tensors.find(name)) return *array;
  throw DataError(fmt::format("{}: expected a tensor named {}, found none", where, name));
}

}  // namespace

const std::string& metadata_at(const Tensors& tensors, const std::string& key, const std::string& where) {
  const auto found = tensors.metadata.find(key);
  if (found == tensors.metadata.end()) {
    throw DataError(fmt::format("{}: metadata: expected a key '{}', found none", where, key));
  }
  return found->second;
}

void check_format(const Tensors& tensors, const std::string& format, Versions versions, const std::string& where) {
  const std::string& found = metadata_at(tensors, "format", where);
  if (found != format)
    throw DataError(fmt::format("{}: expected the format {}, found {}", where, format, excerpt(found)));
  const std::string& text = metadata_at(tensors, "version", where);
  const auto number = number_in<int>(text);
  if (!number || *number < versions.oldest || *number > versions.newest) {
    throw DataError(fmt::format("{}: expected version {} to {} of {}, found {}", where, versions.oldest,
                                versions.newest, format, excerpt(text)));
  }
}

void put_model_kind(Tensors& tensors, const std::string& kind) {
  tensors.metadata["format"] = kModelFormat;
  tensors.metadata["version"] = std::to_string(kModelVersion);
  tensors.metadata["model"] = kind;
}

const std::string& model_kind(const Tensors& tensors, const std::string& where) {
  check_format(tensors, kModelFormat, {1, kModelVersion}, where);
  return metadata_at(tensors, "model", where);
}

std::vector<std::size_t> sizes_at(const Tensors& tensors, const std::string& key, const std::string& where) {
  const std::string& text = metadata_at(tensors, key, where);
  std::vector<std::size_t> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto size = number_in<std::uint32_t>(text.substr(begin, end - begin));
    if (!size || *size == 0) {
      throw DataError(
          fmt::format("{}: metadata: expected '{}' such as 784,500,10, found {}", where, key, excerpt(text)));
    }
    out.push_back(*size);
    begin = end + 1;
  }
  return out;
}

std::pair<std::size_t, std::size_t> matrix_shape(const Tensors& tensors, const std::string& name,
                                                 const std::string& where) {
  const Array& array = array_at(tensors, name, where);
  if (array.shape.size() == 2 && array.size() > 0) return {array.shape[0], array.shape[1]};
  throw DataError(
      fmt::format("{}: {}: expected rows and columns, at least 1 of each, found {} dimensions and {} elements", where,
                  name, array.shape.size(), array.size()));
}

std::vector<float> floats_at(const Tensors& tensors, const std::string& name, const std::vector<std::size_t>& shape,
                             const std::string& where) {
  const Array& array = array_at(tensors, name, where);
  if (array.shape != shape) {
    throw DataError(fmt::format("{}: {}: expected shape [{}], found [{}]", where, name, fmt::join(shape, ", "),
                                fmt::join(array.shape, ", ")));
  }
  if (array.type == ElementType::kFloat32) return finite_floats<float>(array, name, where);
  if (array.type == ElementType::kFloat64) return finite_floats<double>(array, name, where);
  throw DataError(fmt::format("{}: {}: expected 32- or 64-bit floats, found {}", where, name, name_of(array.type)));
}

Array array_of(std::span<const float> values, std::vector<std::size_t> shape) {
  return make_array(ElementType::kFloat32, values, std::move(shape));
}
Array array_of(std::span<const double> values, std::vector<std::size_t> shape) {
  return make_array(ElementType::kFloat64, values, std::move(shape));
}
Array array_of(std::span<const std::uint64_t> values, std::vector<std::size_t> shape) {
  return make_array(ElementType::kUInt64, values, std::move(shape));
}

void put_parameters(Tensors& tensors, const Parameters& parameters) {
  for (const Slot& slot : parameters.slots()) {
    const float largest = largest_under(slot.name);
    for (const float value : parameters[slot.name]) {
      if (std::abs(value) <= largest) continue;
      throw NumericError(
          fmt::format("{} holds {:g}, beyond the largest magnitude that is of use, {:g}; if it was trained, lower the "
                      "learning rate",
                      slot.name, value, largest));
    }
    tensors.arrays.emplace_back(slot.name, array_of(parameters[slot.name], slot.shape));
  }
}

Parameters parameters_from(const Tensors& tensors, const Parameters& shape, const std::string& where) {
  Parameters out = shape;
  for (const Slot& slot : shape.slots()) {
    const std::vector<float> values = floats_at(tensors, slot.name, slot.shape, where);
    std::copy(values.begin(), values.end(), out[slot.name].begin());
  }
  return out;
}

}  // namespace ergodic
