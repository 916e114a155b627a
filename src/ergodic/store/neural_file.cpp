#include "ergodic/store/neural_file.hpp"

#include <fmt/format.h>

#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/store/tensors.hpp"

namespace ergodic {
namespace {

/// The number of columns of the weights of each layer but the last, which has one.
std::vector<std::size_t> hidden_in(const Tensors& tensors, const std::string& where) {
  std::vector<std::size_t> out;
  for (std::size_t layer = 0;; ++layer) {
    const std::string name = Perceptron::weights_slot(layer);
    const Array* weights = tensors.find(name);
    if (!weights) throw DataError(fmt::format("{}: expected a tensor named {}, found none", where, name));
    if (weights->shape.size() != 2 || weights->size() == 0) {
      throw DataError(
          fmt::format("{}: {}: expected rows and columns, at least 1 of each, found {} dimensions and {} "
                      "elements",
                      where, name, weights->shape.size(), weights->size()));
    }
    if (!tensors.find(Perceptron::bias_slot(layer))) return out;  // the output has none
    out.push_back(weights->shape[1]);
  }
}

}  // namespace

void put_neural(Tensors& tensors, const Neural& model) {
  const std::size_t units = model.bowl().mean.size();
  tensors.arrays.emplace_back("mean", array_of(std::span(model.bowl().mean), {units}));
  tensors.arrays.emplace_back("deviation", array_of(std::span(model.bowl().deviation), {units}));
  put_parameters(tensors, model.parameters());
}

Neural neural_from(const Tensors& tensors, const std::string& where) {
  const std::vector<std::size_t> hidden = hidden_in(tensors, where);
  const std::size_t units = tensors.find(Perceptron::weights_slot(0))->shape[0];
  const Bowl bowl{floats_at(tensors, "mean", {units}, where), floats_at(tensors, "deviation", {units}, where)};
  try {
    Neural model(bowl, hidden);
    const Parameters loaded = parameters_from(tensors, model.parameters(), where);
    model.update([&](Parameters& parameters) { parameters = loaded; }, {});
    return model;
  } catch (const UsageError& e) {
    throw DataError(fmt::format("{}: {}", where, e.what()));
  }
}

}  // namespace ergodic
