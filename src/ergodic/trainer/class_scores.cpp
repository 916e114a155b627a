#include "ergodic/trainer/class_scores.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/permutation.hpp"
#include "ergodic/core/stopped.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kWatchedRows = 1000;
constexpr std::size_t kRowsAtATime = 500;  // of a whole data set
constexpr std::size_t kGatheredRows = 16;  // that one thread takes at a time
constexpr double kLeastProbability = 1e-30;
constexpr float kUnknownInput = 0.5f;  // as likely on as off

/// Calls `take` with the inputs of all rows, some at a time, and the first of these rows. Throws Stopped if the
/// observer asks to stop.
template <class Take>
void for_inputs(const Dataset& data, std::size_t inputs, const Context& context, const Take& take) {
  std::vector<std::uint32_t> rows;
  for (std::size_t first = 0; first < data.rows(); first += kRowsAtATime) {
    if (context.stop_requested()) throw Stopped();
    rows.resize(std::min(kRowsAtATime, data.rows() - first));
    std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(first));
    Matrix<float> values(rows.size(), inputs);
    gather_inputs(data, rows, values, context);
    take(first, MatrixView<const float>(values));
  }
}

}  // namespace

ClassScores class_scores(MatrixView<const float> probabilities, std::span<const int> labels) {
  assert(probabilities.rows() == labels.size());
  ClassScores out;
  for (std::size_t r = 0; r < labels.size(); ++r) {
    const std::span<const float> row = probabilities.row(r);
    const auto found = std::ranges::max_element(row) - row.begin();
    out.error += found == labels[r] ? 0.0 : 1.0;
    out.log_loss -= portable_log(std::max(double{row[static_cast<std::size_t>(labels[r])]}, kLeastProbability));
  }
  const auto rows = static_cast<double>(std::max<std::size_t>(labels.size(), 1));
  return {out.error / rows, out.log_loss / rows};
}

HeldOutLoss loss_of(const ClassScores& scores) { return {"held_out_error", scores.error, scores.log_loss}; }

void gather_inputs(const Dataset& data, std::span<const std::uint32_t> rows, MatrixView<float> out,
                   const Context& context) {
  assert(out.rows() == rows.size() && out.cols() <= data.units());
  const auto gather_row = [&](std::uint32_t row, std::span<float> to) {
    if (data.real()) {
      std::ranges::copy(data.reals().row(row).first(to.size()), to.begin());
    } else if (data.dynamic()) {
      const std::span<const Grey> from = data.grey().row(row);
      for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(from[i]) / static_cast<float>(kFullGrey);
    } else {
      std::ranges::fill(to, 0.0f);
      for_each_set(data.bits().row(row), [&](std::size_t i) {
        if (i < to.size()) to[i] = 1.0f;
      });
    }
    for (std::size_t i = 0; i < to.size() && !data.complete(); ++i) {
      if (!data.is_known(row, i)) to[i] = kUnknownInput;
    }
  };
  context.for_blocks(rows.size(), kGatheredRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) gather_row(rows[r], out.row(r));
  });
}

std::vector<float> input_deviations(const Dataset& data, std::size_t inputs) {
  std::vector<double> sums(inputs), squares(inputs);
  for_inputs(data, inputs, {}, [&](std::size_t, MatrixView<const float> values) {
    for (std::size_t r = 0; r < values.rows(); ++r) {
      const std::span<const float> row = values.row(r);
      for (std::size_t i = 0; i < inputs; ++i) {
        sums[i] += double{row[i]};
        squares[i] += double{row[i]} * double{row[i]};
      }
    }
  });
  const auto rows = static_cast<double>(std::max<std::size_t>(data.rows(), 1));
  std::vector<float> out(inputs);
  for (std::size_t i = 0; i < inputs; ++i) {
    const double mean = sums[i] / rows;
    out[i] = static_cast<float>(std::sqrt(std::max(squares[i] / rows - mean * mean, 0.0)));
  }
  return out;
}

Matrix<float> class_probabilities(const ClassesOfInputs& of, const Dataset& data, std::size_t inputs,
                                  std::size_t classes, const Context& context) {
  Matrix<float> out(data.rows(), classes);
  for_inputs(data, inputs, context, [&](std::size_t first, MatrixView<const float> values) {
    std::ranges::copy(of(values).elements(), out.row(first).begin());
  });
  return out;
}

Dataset watched_rows(const Dataset& data, Key key) {
  std::vector<std::uint32_t> rows = permutation(data.rows(), key.at(Purpose::kMonitor));
  rows.resize(std::min(rows.size(), kWatchedRows));
  return select(data, rows);
}

}  // namespace ergodic
