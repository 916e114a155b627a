#include "ergodic/estimator/rbm_path.hpp"

#include <cassert>
#include <utility>

#include "ergodic/kernels/products.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kChainsAtATime = 8;

}  // namespace

RbmPath::RbmPath(const Rbm& machine, std::vector<float> base, const Context& context)
    : machine_(machine), base_(std::move(base)), tilt_(base_.size()) {
  assert(base_.size() == units_of(machine.visible()));
  if (!real_valued(machine.visible())) {
    split_.emplace(machine.weights(), machine.hidden_bias(), levels_of(machine.visible()), context);
    if (!split_->usable()) split_.reset();
  }
  const float low = low_of(machine.visible());
  for (std::size_t i = 0; i < base_.size(); ++i) {
    tilt_[i] = double{machine.visible_bias()[i]} - double{base_[i]};
    low_tilt_ += low * tilt_[i];
  }
}

double RbmPath::base_log_z() const {
  const std::vector<double> visible(base_.begin(), base_.end()), hidden(units_of(machine_.hidden()));
  return log_sum(machine_.visible(), {visible, machine_.precision(Rbm::kVisible)}) +
         log_sum(machine_.hidden(), {hidden, machine_.precision(Rbm::kHidden)});
}

Chains RbmPath::draw_base(std::size_t count, Key key, const Context& context) {
  Chains chains;
  for (const std::size_t block : {Rbm::kVisible, Rbm::kHidden}) {
    chains.layers.push_back(machine_.make_state(block, count));
  }
  // Exact, whatever the hidden units.
  draw_layer(Rbm::kVisible, 0.0, chains, key.at(Purpose::kInitialChains), context);
  return chains;
}

Chains RbmPath::start_at(const State& visible, Key, const Context&) {
  Chains chains;
  chains.layers = {visible, machine_.make_state(Rbm::kHidden, visible.chains())};
  return chains;
}

/// Hidden units first: only then is what it does to the visible ones a sweep at t, wherever they come from.
void RbmPath::sweep(double t, Chains& chains, Key key, const Context& context) {
  for (const std::size_t block : {Rbm::kHidden, Rbm::kVisible}) {
    const Draw draw = key.at(Purpose::kGibbs, chains.sweep, static_cast<std::uint8_t>(block));
    draw_layer(block, t, chains, draw, context);
  }
  ++chains.sweep;
}

/// Weighs and sweeps at once: the fields that hidden units are drawn from are known after weighing.
void RbmPath::advance(double from, double to, Chains& chains, Key key, std::span<double> out, const Context& context) {
  weigh(from, to, chains, out, context);
  if (!split_ || !two_valued(machine_.hidden())) return sweep(to, chains, key, context);
  const auto draw = [&](std::size_t block) {
    return key.at(Purpose::kGibbs, chains.sweep, static_cast<std::uint8_t>(block));
  };
  split_->sample(chains.layers[Rbm::kVisible], map_at(Rbm::kHidden, to), draw(Rbm::kHidden), chains.first_chain,
                 chains.layers[Rbm::kHidden], context);
  draw_layer(Rbm::kVisible, to, chains, draw(Rbm::kVisible), context);
  ++chains.sweep;
}

Affine RbmPath::map_at(std::size_t block, double t) const {
  Affine map = machine_.map_to(block);
  map.beta = t;
  if (block == Rbm::kVisible) map.base = base_;
  return map;
}

void RbmPath::draw_layer(std::size_t block, double t, Chains& chains, const Draw& draw, const Context& context) const {
  const State& given = chains.layers[block == Rbm::kVisible ? Rbm::kHidden : Rbm::kVisible];
  draw_given(machine_.layer(block), machine_.precision(block), given, map_at(block, t), draw, chains.first_chain,
             chains.layers[block], context);
}

double RbmPath::tilt_of(const State& visible, std::size_t row) const {
  double tilt = 0.0;
  if (visible.real()) {
    const std::span<const float> values = visible.reals().row(row);
    for (std::size_t i = 0; i < values.size(); ++i) tilt += values[i] * tilt_[i];
    return tilt;
  }
  for_each_set(visible.bits().row(row), [&](std::size_t i) { tilt += tilt_[i]; });
  return low_tilt_ + visible.levels().gap() * tilt;
}

void RbmPath::weigh(double from, double to, const Chains& chains, std::span<double> out, const Context& context) {
  const State& visible = chains.layers[Rbm::kVisible];
  if (fields_.rows() != visible.chains()) fields_ = Matrix<double>(visible.chains(), units_of(machine_.hidden()));
  if (split_) {
    split_->product(visible, fields_, context);
  } else {
    product(visible, machine_.map_to(Rbm::kHidden), fields_, context);
  }
  context.for_blocks(visible.chains(), kChainsAtATime, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      const LayerFields fields{fields_.row(r), machine_.precision(Rbm::kHidden)};
      out[r] = (to - from) * tilt_of(visible, r) + log_sum_change(machine_.hidden(), fields, from, to);
    }
  });
}

std::unique_ptr<Path> path_to(const Rbm& machine, const State& rows, const Context& context) {
  const std::vector<float> base = base_fields(machine.visible(), rows, machine.precision(Rbm::kVisible));
  return std::make_unique<RbmPath>(machine, base, context);
}

}  // namespace ergodic
