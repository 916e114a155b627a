#include "ergodic/model/hopfield.hpp"

#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/model/layer.hpp"

namespace ergodic {
namespace {

std::optional<std::string> flaw_in_row(MatrixView<const float> couplings, std::size_t i) {
  for (std::size_t j = 0; j < couplings.cols(); ++j) {
    if (!std::isfinite(couplings(i, j))) {
      return fmt::format("couplings: element ({}, {}) is {}, expected a finite number", i, j, couplings(i, j));
    }
    if (i != j && couplings(i, j) != couplings(j, i)) {
      return fmt::format("couplings: expected a symmetric matrix, found {} at ({}, {}) and {} at ({}, {})",
                         couplings(i, j), i, j, couplings(j, i), j, i);
    }
  }
  if (couplings(i, i) != 0.0f) {
    return fmt::format("couplings: expected zeros on the diagonal, found {} at ({}, {})", couplings(i, i), i, i);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> flaw_in(MatrixView<const float> couplings, std::span<const float> bias) {
  const std::size_t units = bias.size();
  if (units == 0 || couplings.rows() != units || couplings.cols() != units) {
    return fmt::format("couplings: expected a row and a column for each of {} biases, at least 1, found {} x {}", units,
                       couplings.rows(), couplings.cols());
  }
  for (std::size_t i = 0; i < units; ++i) {
    if (!std::isfinite(bias[i])) {
      return fmt::format("bias: element {} is {}, expected a finite number", i, bias[i]);
    }
    if (auto flaw = flaw_in_row(couplings, i)) return flaw;
  }
  return std::nullopt;
}

Hopfield::Hopfield(Matrix<float> couplings, std::vector<float> bias)
    : couplings_(std::move(couplings)), bias_(std::move(bias)), largest_fields_(bias_.size()) {
  if (const auto flaw = flaw_in(couplings_, bias_)) throw UsageError(*flaw);
  for (std::size_t i = 0; i < units(); ++i) {
    largest_fields_[i] = std::abs(double{bias_[i]});
    for (const float w : couplings_.view().row(i)) largest_fields_[i] += std::abs(double{w});
  }
}

Matrix<double> Hopfield::fields(const State& rows, const Context& context) const {
  assert(rows.units() == units() && rows.levels() == Spin::kLevels);
  Matrix<double> out(rows.chains(), units());
  product(rows, Affine{couplings_, couplings_, bias_, nullptr}, out, context);
  return out;
}

std::vector<double> Hopfield::energy(const State& rows, const Context& context) const {
  const Matrix<double> h = fields(rows, context);
  std::vector<double> out(rows.chains());
  for (std::size_t r = 0; r < out.size(); ++r) out[r] = energy_from_fields(rows, r, h.row(r), bias_);
  return out;
}

double energy_from_fields(const State& rows, std::size_t row, std::span<const double> fields,
                          std::span<const float> bias) {
  double sum = 0.0;
  for (std::size_t i = 0; i < fields.size(); ++i) sum += rows.value(row, i) * (fields[i] + bias[i]);
  return -0.5 * sum;
}

}  // namespace ergodic
