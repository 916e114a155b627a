#include "ergodic/estimator/annealing.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/kernels/kernels.hpp"
#include "ergodic/kernels/split_weights.hpp"

namespace ergodic {
namespace {

class Annealing {
 public:
  Annealing(const Rbm& model, std::span<const float> base, std::size_t chains, Key key, const Context& context)
      : model_(model),
        split_(model.weights(), model.hidden_bias(), levels_of(model.visible()), context),
        base_(base),
        key_(key),
        visible_(model.make_state(Rbm::kVisible, chains)),
        hidden_(model.make_state(Rbm::kHidden, chains)),
        fields_(chains, hidden_.units()),
        tilt_(base.size()),
        log_weights_(chains) {
    for (std::size_t i = 0; i < base.size(); ++i) {
      tilt_[i] = double{model.visible_bias()[i]} - double{base[i]};
      low_tilt_ += visible_.levels().low * tilt_[i];
    }
    draw_visible(0.0, key.at(Purpose::kInitialChains), context);  // exact, whatever the hidden units
  }

  /// Gathers the weights of a step from one beta to the next.
  void weigh(double from, double to, const Context& context) {
    if (split_.usable()) {
      split_.product(visible_, fields_, context);
    } else {
      product(visible_, model_.map_to(Rbm::kHidden), fields_, context);
    }
    constexpr std::size_t kChainsAtATime = 8;
    context.for_blocks(visible_.chains(), kChainsAtATime, [&](std::size_t begin, std::size_t end) {
      std::vector<double> scaled(fields_.cols());
      const auto log_sum_at = [&](double beta, std::size_t r) {
        for (std::size_t j = 0; j < scaled.size(); ++j) scaled[j] = beta * fields_(r, j);
        return log_sum(model_.hidden(), {scaled});
      };
      for (std::size_t r = begin; r < end; ++r) {
        double tilt = 0.0;
        for_each_set(visible_.bits().row(r), [&](std::size_t i) { tilt += tilt_[i]; });
        tilt = low_tilt_ + visible_.levels().gap() * tilt;
        log_weights_[r] += (to - from) * tilt + log_sum_at(to, r) - log_sum_at(from, r);
      }
    });
  }

  /// A Gibbs sweep of the machine at beta.
  void sweep(double beta, std::uint64_t step, const Context& context) {
    Affine up = model_.map_to(Rbm::kHidden);
    up.beta = beta;
    sample(visible_, up, key_.at(Purpose::kGibbs, step, Rbm::kHidden), 0, hidden_, context);
    draw_visible(beta, key_.at(Purpose::kGibbs, step, Rbm::kVisible), context);
  }

  AnnealedLogZ result() const {
    const std::vector<double> visible(base_.begin(), base_.end()), hidden(hidden_.units());
    const double base_log_z = log_sum(model_.visible(), {visible}) + log_sum(model_.hidden(), {hidden});
    const double largest = *std::max_element(log_weights_.begin(), log_weights_.end());
    const auto count = static_cast<double>(log_weights_.size());
    double sum = 0.0, squares = 0.0;
    for (const double w : log_weights_) {
      const double weight = portable_exp(w - largest);
      sum += weight;
      squares += weight * weight;
    }
    // The spread of the weights about their mean, as a share of the mean.
    const double variance = std::max(squares / (sum * sum) * count - 1.0, 0.0);
    return {base_log_z + largest + portable_log(sum / count), std::sqrt(variance / std::max(count - 1.0, 1.0)),
            sum * sum / squares};
  }

 private:
  void draw_visible(double beta, const Draw& draw, const Context& context) {
    Affine down = model_.map_to(Rbm::kVisible);
    down.beta = beta;
    down.base = base_;
    sample(hidden_, down, draw, 0, visible_, context);
  }

  const Rbm& model_;
  SplitWeights split_;
  std::span<const float> base_;
  Key key_;
  State visible_, hidden_;
  Matrix<double> fields_;     // c + x W
  std::vector<double> tilt_;  // b - base
  double low_tilt_ = 0.0;     // x'(b - base) when all units are low
  std::vector<double> log_weights_;
};

}  // namespace

std::optional<AnnealedLogZ> annealed_log_z(const Rbm& model, std::span<const float> base,
                                           const AnnealingOptions& options, Key key, const Context& context) {
  assert(base.size() == units_of(model.visible()));
  require(options.chains >= 2, "annealing needs at least 2 chains: one alone has no standard error");
  require(options.temperatures >= 1, "annealing needs at least 1 temperature");
  require(two_valued(model.visible()) && two_valued(model.hidden()), "annealing needs two-valued units on both sides");
  Annealing annealing(model, base, options.chains, key, context);
  const auto beta = [&](std::size_t k) { return static_cast<double>(k) / static_cast<double>(options.temperatures); };
  for (std::size_t k = 1; k <= options.temperatures; ++k) {
    if (context.stop_requested()) return std::nullopt;
    annealing.weigh(beta(k - 1), beta(k), context);
    if (k < options.temperatures) annealing.sweep(beta(k), k, context);
    context.progress({k, options.temperatures});
  }
  return annealing.result();
}

}  // namespace ergodic
