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

/// DataError unless each row has a label from 0 to classes - 1, or -1 for one that is not known.
void require_labels_below(std::size_t classes, const Dataset& data) {
  if (data.labels.size() != data.rows()) {
    throw DataError(fmt::format(
        "{}: expected a label for each row, found none; give them with --labels or --label-column", data.name));
  }
  for (std::size_t r = 0; r < data.rows(); ++r) {
    const int label = data.labels[r];
    if (label >= -1 && label < static_cast<int>(classes)) continue;
    throw DataError(fmt::format("{}: row {}: expected a label from 0 to {}, or -1 for a row without; found {}",
                                data.name, r + 1, classes - 1, label));
  }
}

/// Which units of rows with labels are known; no rows if all are.
Bits known_with_labels(const Dataset& data, std::size_t classes) {
  const std::size_t values = data.units();
  const auto has_label = [&](std::size_t r) { return data.labels[r] >= 0; };
  bool all = data.complete();
  for (std::size_t r = 0; r < data.rows() && all; ++r) all = has_label(r);
  if (all) return {};
  Bits out(data.rows(), values + classes);
  for (std::size_t r = 0; r < data.rows(); ++r) {
    for (std::size_t i = 0; i < values; ++i) out.set(r, i, data.is_known(r, i));
    for (std::size_t c = 0; c < classes; ++c) out.set(r, values + c, has_label(r));
  }
  return out;
}

Dataset with_labels(const Dataset& data, std::size_t classes) {
  require_labels_below(classes, data);
  const std::size_t values = data.units();
  const auto unit_of_label = [&](std::size_t r) {
    return values + static_cast<std::size_t>(std::max(data.labels[r], 0));
  };
  Dataset out = data;
  if (!out.unit_names.empty()) out.unit_names.emplace_back(kLabelName);
  if (data.dynamic()) {
    Matrix<Grey> grey(data.rows(), values + classes);
    for (std::size_t r = 0; r < data.rows(); ++r) {
      std::ranges::copy(data.grey().row(r), grey.row(r).begin());
      grey(r, unit_of_label(r)) = kFullGrey;
    }
    out.values = std::move(grey);
  } else {
    Bits bits(data.rows(), values + classes);
    for (std::size_t r = 0; r < data.rows(); ++r) {
      for_each_set(data.bits().row(r), [&](std::size_t i) { bits.set(r, i, true); });
      bits.set(r, unit_of_label(r), true);
    }
    out.values = std::move(bits);
  }
  out.known = known_with_labels(data, classes);
  return out;
}

}  // namespace

Layer labelled_layer(std::size_t values, std::size_t classes) {
  return joined({Bernoulli{values}, Potts{classes, classes}});
}

void require_every_label(const Dataset& data) {
  const auto without = std::ranges::find_if(data.labels, [](int label) { return label < 0; });
  if (without == data.labels.end()) return;
  throw DataError(fmt::format("{}: row {}: expected a label from 0 up, found {}; a class-rbm learns from rows without",
                              data.name, without - data.labels.begin() + 1, *without));
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
