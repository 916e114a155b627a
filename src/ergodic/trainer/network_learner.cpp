#include "ergodic/trainer/network_learner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

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

Matrix<float> class_probabilities(const Network& network, const Dataset& data, const Context& context) {
  return class_probabilities(
      [&](MatrixView<const float> inputs) { return class_probabilities(network, inputs, context); }, data,
      network.inputs(), network.classes(), context);
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
      best_(std::as_const(network).parameters().values()),
      monitored_(watched_rows(train, key)) {
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
  std::optional<ClassScores> scores;
  if (held_out_.rows() > 0) {
    scores = class_scores(class_probabilities(network_, held_out_, Context{context.threads}), held_out_.labels);
  }
  best_.offer(std::as_const(network_).parameters().values(), scores);
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
  best_.put(out);
  return out;
}

void NetworkLearner::restore(LearnerState state) {
  best_.take(state);
  velocity_ = std::move(state.velocity);
}

void NetworkLearner::take_best() { std::ranges::copy(best_.values(), network_.parameters().values().begin()); }

}  // namespace ergodic
