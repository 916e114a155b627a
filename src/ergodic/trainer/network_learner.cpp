#include "ergodic/trainer/network_learner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/core/permutation.hpp"
#include "ergodic/core/stopped.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kMonitoredRows = 1000;
constexpr std::size_t kRowsAtATime = 500;  // of a whole data set on its way through a network
constexpr double kLeastProbability = 1e-30;
constexpr float kUnknownInput = 0.5f;  // as likely on as off

Dataset monitored_rows(const Dataset& data, Key key) {
  std::vector<std::uint32_t> rows = permutation(data.rows(), key.at(Purpose::kMonitor));
  rows.resize(std::min(rows.size(), kMonitoredRows));
  return select(data, rows);
}

/// Shortens the weights that lead to a unit where their norm is larger than allowed.
void bound_norms(double most, Network& network) {
  for (std::size_t k = 0; k < network.depth(); ++k) {
    const std::size_t from = network.sizes()[k], to = network.sizes()[k + 1];
    const MatrixView<float> weights(network.parameters()[Network::weights_slot(k)].data(), from, to);
    std::vector<double> squares(to);
    for (std::size_t i = 0; i < from; ++i) {
      for (std::size_t j = 0; j < to; ++j) squares[j] += double{weights(i, j)} * weights(i, j);
    }
    std::vector<float> factors(to, 1.0f);
    for (std::size_t j = 0; j < to; ++j) {
      if (squares[j] > most * most) factors[j] = static_cast<float>(most / std::sqrt(squares[j]));
    }
    for (std::size_t i = 0; i < from; ++i) {
      for (std::size_t j = 0; j < to; ++j) weights(i, j) *= factors[j];
    }
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

void gather_inputs(const Dataset& data, std::span<const std::uint32_t> rows, MatrixView<float> out) {
  assert(out.rows() == rows.size() && out.cols() == data.units());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::span<float> to = out.row(r);
    if (data.real()) {
      std::ranges::copy(data.reals().row(rows[r]), to.begin());
    } else if (data.dynamic()) {
      const std::span<const Grey> from = data.grey().row(rows[r]);
      for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(from[i]) / static_cast<float>(kFullGrey);
    } else {
      std::ranges::fill(to, 0.0f);
      for_each_set(data.bits().row(rows[r]), [&](std::size_t i) { to[i] = 1.0f; });
    }
    for (std::size_t i = 0; i < to.size() && !data.complete(); ++i) {
      if (!data.is_known(rows[r], i)) to[i] = kUnknownInput;
    }
  }
}

Matrix<float> class_probabilities(const Network& network, const Dataset& data, const Context& context) {
  Matrix<float> out(data.rows(), network.classes());
  std::vector<std::uint32_t> rows;
  for (std::size_t first = 0; first < data.rows(); first += kRowsAtATime) {
    if (context.stop_requested()) throw Stopped();
    rows.resize(std::min(kRowsAtATime, data.rows() - first));
    std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(first));
    Matrix<float> inputs(rows.size(), data.units());
    gather_inputs(data, rows, inputs);
    const Matrix<float> found = class_probabilities(network, inputs, context);
    std::ranges::copy(found.elements(), out.row(first).begin());
  }
  return out;
}

NetworkLearner::NetworkLearner(Network& network, const Dataset& train, const Dataset& held_out,
                               const NetworkLearning& options, std::uint64_t updates_per_epoch, Key key)
    : network_(network),
      train_(train),
      held_out_(held_out),
      options_(options),
      updates_per_epoch_(updates_per_epoch),
      key_(key),
      gradient_(network.parameters().values().size()),
      ascent_(gradient_.size()),
      velocity_(memory_of(options.optimiser, gradient_.size())),
      best_(network.parameters().values().begin(), network.parameters().values().end()),
      best_scores_{1.0, std::numeric_limits<double>::max()},
      monitored_(monitored_rows(train, key)) {
  require(train.units() == network.inputs(),
          fmt::format("the network has {} inputs, the data {} values", network.inputs(), train.units()));
  require(train.labels.size() == train.rows() && train.classes() <= network.classes(),
          fmt::format("the network has {} classes, the data {}", network.classes(), train.classes()));
}

void NetworkLearner::learn(const UpdateStep& now, const Context& context) {
  if (pass_.values.empty() || pass_.values[0].rows() != now.rows.size()) pass_ = network_.make_pass(now.rows.size());
  gather_inputs(train_, now.rows, pass_.values[0]);
  std::vector<int> labels;
  for (const std::uint32_t row : now.rows) labels.push_back(train_.labels[row]);
  network_.forward(pass_, options_.dropout, key_.at(Purpose::kDropout, now.update), context);
  network_.backward(pass_, labels, options_.dropout, gradient_, context);
  std::ranges::copy(gradient_, ascent_.begin());
  Parameters& parameters = network_.parameters();
  for (std::size_t k = 0; k < network_.depth() && options_.l2 > 0.0; ++k) {
    const Slot& weights = parameters.slot(Network::weights_slot(k));
    for (std::size_t i = weights.offset; i < weights.offset + weights.size; ++i) {
      ascent_[i] -= options_.l2 * parameters.values()[i];
    }
  }
  step(options_.optimiser, {now.update, now.rate}, ascent_, velocity_, parameters, context);
  if (options_.max_norm > 0.0) bound_norms(options_.max_norm, network_);
  if ((now.update + 1) % updates_per_epoch_ == 0) keep_if_best(context);
}

void NetworkLearner::keep_if_best(const Context& context) {
  const std::span<const float> now = std::as_const(network_).parameters().values();
  if (held_out_.rows() > 0) {
    const Matrix<float> found = class_probabilities(network_, held_out_, Context{context.threads});
    const ClassScores scores = class_scores(found, held_out_.labels);
    const bool better = scores.error < best_scores_.error ||
                        (scores.error == best_scores_.error && scores.log_loss < best_scores_.log_loss);
    if (!better) return;
    best_scores_ = scores;
  }
  best_.assign(now.begin(), now.end());
}

Measures NetworkLearner::measure(const Context& context) const {
  const Context unobserved{context.threads};
  Measures out;
  const auto add = [&](const std::string& prefix, const Dataset& rows) {
    const ClassScores scores = class_scores(class_probabilities(network_, rows, unobserved), rows.labels);
    out.emplace_back(prefix + "error", scores.error);
    out.emplace_back(prefix + "log_loss", scores.log_loss);
  };
  add("", monitored_);
  if (held_out_.rows() > 0) add("held_out_", held_out_);
  return out;
}

LearnerState NetworkLearner::state() const {
  LearnerState out;
  out.velocity = velocity_;
  out.offsets = {best_scores_.error, best_scores_.log_loss};
  out.best = best_;
  return out;
}

void NetworkLearner::restore(LearnerState state) {
  velocity_ = std::move(state.velocity);
  best_scores_ = {state.offsets[0], state.offsets[1]};
  best_ = std::move(state.best);
}

void NetworkLearner::take_best() { std::ranges::copy(best_, network_.parameters().values().begin()); }

}  // namespace ergodic
