#include "ergodic/trainer/network_learner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "ergodic/core/aligned.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/kernels/products.hpp"

namespace ergodic {
namespace {

/// Rows and columns of the weights whose gradient is found and made a step at a time, in the nearest caches.
constexpr std::size_t kStepRows = 96, kStepColumns = 128;

constexpr float kMeanRate = 0.01f;  // weight of a new batch in the moving means

constexpr std::size_t kAhead = 6;  // rows whose parameters are on their way into the cache

/// What makes a step of the gradient.
struct StepOptions {
  float rate, l2, max_norm;
  std::span<const std::vector<float>> means;  ///< mu of each layer
};

MatrixView<float> rows_of(Matrix<float>& matrix, std::size_t first, std::size_t count) {
  return {matrix.data() + first * matrix.cols(), count, matrix.cols()};
}

void fetch(const float* from, std::size_t count) {
  for (std::size_t c = 0; c < count; c += kCacheLine / sizeof(float)) __builtin_prefetch(from + c, 1);
}

/// Steps all weights that lead to the units [begin, end) above a layer, and their biases. `change` is that of the
/// optimiser.
template <class Change>
void step_columns(const Network::Pass& pass, std::size_t layer, std::size_t begin, std::size_t end,
                  const StepOptions& options, const Change& change, std::span<const float> velocity, Network& network) {
  thread_local AlignedVector<float> gradient(kStepRows * kStepColumns);
  const Network& before = network;
  const std::size_t rows = network.sizes()[layer], stride = network.sizes()[layer + 1], width = end - begin;
  float* const values = network.parameters().values().data();
  std::array<float, kStepColumns> bias_gradient, squares{}, moved_field{};  // moved_field: mu' dW
  before.find_bias_gradient(pass, layer, begin, {bias_gradient.data(), width});
  // The weights from `at` on, which lead from a unit of this mean.
  const auto step_row = [&](std::size_t at, const float* g, float mean) {
    float* const row = values + at;
    const float rate = options.rate, l2 = options.l2;
    for (std::size_t c = 0; c < width; ++c) {
      const float moved = rate * change(at + c, g[c] - mean * bias_gradient[c] - l2 * row[c]);
      row[c] += moved;
      moved_field[c] += mean * moved;
      squares[c] += row[c] * row[c];
    }
  };
  const std::size_t weights_at = before.parameters().slot(Network::weights_slot(layer)).offset + begin;
  for (std::size_t first = 0; first < rows; first += kStepRows) {
    const std::size_t count = std::min(kStepRows, rows - first);
    before.find_gradient(pass, {layer, first, count, begin, width}, {gradient.data(), count, width});
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = weights_at + (first + i) * stride;
      if (first + i + kAhead < rows) {
        fetch(values + at + kAhead * stride, width);
        fetch(velocity.data() + at + kAhead * stride, width);
      }
      step_row(at, gradient.data() + i * width, options.means[layer][first + i]);
    }
  }
  const std::size_t bias_at = before.parameters().slot(Network::bias_slot(layer)).offset + begin;
  for (std::size_t c = 0; c < width; ++c) {
    values[bias_at + c] += options.rate * change(bias_at + c, bias_gradient[c]) - moved_field[c];
  }
  // The norm of the weights that lead to a unit is bounded.
  const float most = options.max_norm * options.max_norm;
  if (most == 0.0f || *std::max_element(squares.begin(), squares.begin() + width) <= most) return;
  std::array<float, kStepColumns> factors;
  for (std::size_t c = 0; c < width; ++c) {
    factors[c] = squares[c] > most ? options.max_norm / std::sqrt(squares[c]) : 1.0f;
  }
  for (std::size_t i = 0; i < rows; ++i) {
    float* const row = values + weights_at + i * stride;
    for (std::size_t c = 0; c < width; ++c) row[c] *= factors[c];
  }
}

/// dead, saturated: shares of the hidden units that say nothing of these rows, of the layer with most of them, since
/// nothing passes through a layer without any others. A sigmoid is on for less than 1 % or more than 99 %, on average;
/// a rectified unit is zero for all rows.
Measures activity_of(const Network& network, const Dataset& data, const Context& context) {
  if (network.depth() == 1) return {};
  std::vector<std::uint32_t> rows(data.rows());
  std::iota(rows.begin(), rows.end(), 0u);
  Network::Pass pass = network.make_pass(rows.size());
  gather_inputs(data, rows, pass.values[0], context);
  network.forward(pass, context);
  const bool bounded = network.activation() == Activation::kSigmoid;
  const double weight = 1.0 / static_cast<double>(rows.size());
  double dead = 0.0, saturated = 0.0;
  for (std::size_t k = 1; k < network.depth(); ++k) {
    std::vector<double> means(network.sizes()[k]);
    add_column_sums(pass.values[k], {&weight, 1}, means);
    const auto share = [&](auto&& counts) {
      return static_cast<double>(std::ranges::count_if(means, counts)) / static_cast<double>(means.size());
    };
    dead = std::max(dead, share([&](double mean) { return bounded ? mean < 0.01 : mean == 0.0; }));
    saturated = std::max(saturated, share([&](double mean) { return bounded && mean > 0.99; }));
  }
  return {{"dead", dead}, {"saturated", saturated}};
}

}  // namespace

Matrix<float> class_probabilities(const Network& network, const Dataset& data, const Context& context) {
  return class_probabilities(
      [&](MatrixView<const float> inputs) { return class_probabilities(network, inputs, context); }, data,
      network.inputs(), network.classes(), context);
}

NetworkLearner::NetworkLearner(Network& network, const Dataset& train, const Dataset& held_out,
                               const NetworkLearning& options, Key key, const Dataset* all_rows)
    : network_(network),
      train_(train),
      held_out_(held_out),
      options_(options),
      key_(key),
      velocity_(memory_of(options.optimiser, network.parameters().values().size())),
      monitored_(watched_rows(train, key)) {
  require(train.units() == network.inputs(),
          fmt::format("the network has {} inputs, the data {} values", network.inputs(), train.units()));
  require(train.labels.size() == train.rows() && train.classes() <= network.classes(),
          fmt::format("the network has {} classes, the data {}", network.classes(), train.classes()));
  for (std::size_t k = 0; k < network.depth(); ++k) means_.emplace_back(network.sizes()[k]);
  if (options.adversarial.value_or(0.0) > 0.0) adversary_.emplace(train, *options.adversarial);
  if (options.smoothing.value_or(0.0) > 0.0) {
    virtual_adversary_.emplace(all_rows ? *all_rows : train, *options.smoothing, key);
  }
}

void NetworkLearner::learn(const UpdateStep& now, const Context& context) {
  const std::size_t rows = now.rows.size(), all = virtual_adversary_ ? 2 * rows : rows;
  if (pass_.values.empty() || pass_.values[0].rows() != all) {
    pass_ = network_.make_pass(all);
    targets_ = Matrix<float>(all, network_.classes());
  }
  const MatrixView<float> labelled = rows_of(pass_.values[0], 0, rows), targets = rows_of(targets_, 0, rows);
  gather_inputs(train_, now.rows, labelled, context);
  labels_.resize(rows);
  for (std::size_t r = 0; r < rows; ++r) labels_[r] = train_.labels[now.rows[r]];
  set_targets(labels_, targets);
  const Draw dropped = key_.at(Purpose::kDropout, now.update);
  const Dropping dropping{options_.dropout, dropped};
  if (adversary_) adversary_->move(network_, dropping, targets, labelled, context);
  if (virtual_adversary_) {
    virtual_adversary_->find(network_, dropping, now.update, rows_of(pass_.values[0], rows, rows),
                             rows_of(targets_, rows, rows), context);
  }
  network_.forward(pass_, options_.dropout, dropped, context);
  network_.backward(pass_, targets_, options_.dropout, context);
  follow_means(now.update);
  step({now.update, now.rate}, context);
}

/// The first batch is all that is known of the means.
void NetworkLearner::follow_means(std::uint64_t update) {
  const float rate = update == 0 ? 1.0f : kMeanRate;
  for (std::size_t k = 0; k < means_.size(); ++k) {
    const Matrix<float>& values = pass_.values[k];
    std::vector<float>& means = means_[k];
    const float kept = 1.0f - rate, each = rate / static_cast<float>(values.rows());
    for (float& mean : means) mean *= kept;
    for (std::size_t r = 0; r < values.rows(); ++r) {
      const std::span<const float> row = values.row(r);
      for (std::size_t i = 0; i < row.size(); ++i) means[i] += each * row[i];
    }
  }
}

/// All layers at once: a thread takes some units with all that leads to them.
void NetworkLearner::step(StepSize size, const Context& context) {
  const StepOptions options{static_cast<float>(size.rate), static_cast<float>(options_.l2),
                            static_cast<float>(options_.max_norm), means_};
  std::visit(
      [&](const auto& optimiser) {
        const auto change = optimiser.changes(size, velocity_);
        context.for_blocks_of_all(
            network_.depth(),
            [&](std::size_t k) { return options_.frozen && k + 1 < network_.depth() ? 0 : network_.sizes()[k + 1]; },
            kStepColumns,
            [&](std::size_t k, std::size_t begin, std::size_t end) {
              step_columns(pass_, k, begin, end, options, change, velocity_, network_);
            });
      },
      options_.optimiser);
}

std::optional<HeldOutLoss> NetworkLearner::held_out_loss(const Context& context) const {
  if (held_out_.rows() == 0) return std::nullopt;
  return loss_of(class_scores(class_probabilities(network_, held_out_, Context{context.threads}), held_out_.labels));
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
  std::ranges::move(activity_of(network_, monitored_, unobserved), std::back_inserter(out));
  return out;
}

LearnerState NetworkLearner::state() const {
  LearnerState out;
  out.velocity = velocity_;
  for (const std::vector<float>& means : means_) out.offsets.insert(out.offsets.end(), means.begin(), means.end());
  return out;
}

void NetworkLearner::restore(LearnerState state) {
  velocity_ = std::move(state.velocity);
  auto from = state.offsets.begin();
  for (std::vector<float>& means : means_) {
    for (float& mean : means) mean = static_cast<float>(*from++);
  }
}

void NetworkLearner::set_parameters(std::span<const float> values, const Context&) {
  std::ranges::copy(values, network_.parameters().values().begin());
}

}  // namespace ergodic
