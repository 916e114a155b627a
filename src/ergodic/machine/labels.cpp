#include "ergodic/machine/labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/machine/rows.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kMostClasses = 1000;

/// Whether the rows have the units of labels already.
bool has_label_units(const Dataset& data, std::size_t values, std::size_t classes) {
  if (!data.labels.empty() || data.units() != values + classes || !std::holds_alternative<Bits>(data.values)) {
    return false;
  }
  for (std::size_t r = 0; r < data.rows(); ++r) {
    std::size_t on = 0;
    for_each_set(data.bits().row(r), [&](std::size_t i) { on += i >= values ? 1 : 0; });
    if (on != 1) return false;
  }
  return true;
}

Dataset with_labels(const Dataset& data, std::size_t classes) {
  if (data.labels.size() != data.rows()) {
    throw DataError(fmt::format("{}: expected a label for each row, found none; give them with --labels", data.name));
  }
  const std::size_t values = data.units();
  const auto label_of = [&](std::size_t r) {
    if (data.labels[r] < 0 || static_cast<std::size_t>(data.labels[r]) >= classes) {
      throw DataError(fmt::format("{}: row {}: expected a label from 0 to {}, found {}", data.name, r + 1, classes - 1,
                                  data.labels[r]));
    }
    return static_cast<std::size_t>(data.labels[r]);
  };
  Dataset out = data;
  out.shape = {};
  if (!out.unit_names.empty()) out.unit_names.emplace_back(kLabelName);
  if (data.dynamic()) {
    Matrix<Grey> grey(data.rows(), values + classes);
    for (std::size_t r = 0; r < data.rows(); ++r) {
      std::ranges::copy(data.grey().row(r), grey.row(r).begin());
      grey(r, values + label_of(r)) = kFullGrey;
    }
    out.values = std::move(grey);
  } else {
    Bits bits(data.rows(), values + classes);
    for (std::size_t r = 0; r < data.rows(); ++r) {
      for_each_set(data.bits().row(r), [&](std::size_t i) { bits.set(r, i, true); });
      bits.set(r, values + label_of(r), true);
    }
    out.values = std::move(bits);
  }
  if (data.complete()) return out;
  out.known = Bits(data.rows(), values + classes);
  for (std::size_t r = 0; r < data.rows(); ++r) {
    for_each_set(data.known.row(r), [&](std::size_t i) { out.known.set(r, i, true); });
    for (std::size_t c = 0; c < classes; ++c) out.known.set(r, values + c, true);
  }
  return out;
}

}  // namespace

Layer labelled_layer(std::size_t values, std::size_t classes) {
  return joined({Bernoulli{values}, Potts{classes, classes}});
}

std::size_t label_classes(const Dataset& data) {
  const std::size_t classes = std::max<std::size_t>(data.classes(), 2);
  if (classes > kMostClasses) {
    throw DataError(
        fmt::format("{}: expected labels from 0 to {} at most, found {}", data.name, kMostClasses - 1, classes - 1));
  }
  return classes;
}

Dataset with_label_units(Dataset data, std::size_t values, std::size_t classes) {
  return data.rows() == 0 || has_label_units(data, values, classes) ? data : with_labels(data, classes);
}

}  // namespace ergodic
