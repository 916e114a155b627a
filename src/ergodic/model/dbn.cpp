#include "ergodic/model/dbn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/kernels/fields.hpp"
#include "ergodic/model/all_states.hpp"

namespace ergodic {
namespace {

constexpr double kMostSummedBits = 16.0;  // states of two layers that are next to each other, together
constexpr std::size_t kStatesAtATime = 64;

std::string slot_of(std::size_t stage, std::string_view name) { return fmt::format("layer{}.{}", stage + 1, name); }
constexpr const char* kSlots[] = {"weights", "visible_bias", "hidden_bias"};
constexpr char kRecognitionSlot[] = "recognition_weights";

/// Values, and beside them the units of labels that begin there in another state.
State with_labels(const State& values, const State& labels, std::size_t first, std::size_t classes) {
  if (classes == 0) return values;
  return {beside(values.bits(), columns(labels.bits(), first, classes)), values.levels()};
}

double log_sum_of(std::span<const double> terms) {
  const double largest = *std::ranges::max_element(terms);
  double sum = 0.0;
  for (const double term : terms) sum += portable_exp(term - largest);
  return largest + portable_log(sum);
}

}  // namespace

std::vector<double> log_conditional(const Rbm& machine, std::size_t block, const State& states, const State& given,
                                    const Context& context) {
  assert(states.chains() == given.chains());
  std::vector<double> out(states.chains());
  for_fields(given, machine.map_to(block), context, [&](std::size_t r, std::span<const double> fields) {
    double sum = -log_sum(machine.layer(block), {fields, machine.precision(block)});
    for_each_set(states.bits().row(r), [&](std::size_t i) { sum += fields[i]; });
    out[r] = sum;
  });
  return out;
}

Dbn::Dbn(DbnShape shape) : shape_(std::move(shape)) {
  const std::size_t depth = shape_.hidden.size();
  require(
      depth >= kFewestLayers && depth <= kMostLayers,
      fmt::format("a deep belief network has from {} to {} hidden layers, found {}; one hidden layer is --model rbm",
                  kFewestLayers, kMostLayers, depth));
  for (std::size_t k = 0; k < depth; ++k) {
    const std::size_t below = k == 0 ? shape_.values : shape_.hidden[k - 1];
    Layer visible = Bernoulli{below};
    if (k + 1 == depth && shape_.classes > 0) {
      visible = joined({Bernoulli{below}, Potts{shape_.classes, shape_.classes}});
    }
    stages_.emplace_back(visible, Bernoulli{shape_.hidden[k]});
  }
  recognition_.resize(depth - 1);
}

Layer Dbn::visible_layer() const {
  if (shape_.classes == 0) return Bernoulli{shape_.values};
  return joined({Bernoulli{shape_.values}, Potts{shape_.classes, shape_.classes}});
}

std::vector<Layer> Dbn::layers() const {
  std::vector<Layer> out{visible_layer()};
  for (const std::size_t units : shape_.hidden) out.emplace_back(Bernoulli{units});
  return out;
}

const Parameters& Dbn::parameters() const {
  return flat_.value([this] {
    Parameters out;
    for (std::size_t k = 0; k < depth(); ++k) {
      const auto add = [&](const std::string& name, const Slot& slot, std::span<const float> values) {
        out.add(name, slot.shape);
        std::ranges::copy(values, out[name].begin());
      };
      const Parameters& own = stages_[k].parameters();
      for (const char* name : kSlots) {
        // The hidden biases of a directed layer are those of recognition alone.
        const bool above = std::string_view(name) == "hidden_bias" && k + 1 < depth();
        add(slot_of(k, name), own.slot(name), above ? recognition(k).parameters()[name] : own[name]);
      }
      if (shape_.untied && k + 1 < depth()) {
        add(slot_of(k, kRecognitionSlot), own.slot("weights"), recognition(k).parameters()["weights"]);
      }
    }
    return out;
  });
}

void Dbn::set_parameters(const Parameters& values) {
  for (std::size_t k = 0; k < depth(); ++k) {
    stages_[k].set([&](Parameters& own) {
      for (const char* name : kSlots) std::ranges::copy(values[slot_of(k, name)], own[name].begin());
    });
    if (!shape_.untied || k + 1 == depth()) continue;
    recognition_[k].reset();
    const std::span<const float> upward = values[slot_of(k, kRecognitionSlot)];
    if (std::ranges::equal(upward, values[slot_of(k, "weights")])) continue;
    recognition_[k] = stages_[k];
    recognition_[k]->set([&](Parameters& own) { std::ranges::copy(upward, own["weights"].begin()); });
  }
  flat_.forget();
}

State Dbn::values_of(const State& visible) const {
  if (shape_.classes == 0) return visible;
  return {columns(visible.bits(), 0, shape_.values), visible.levels()};
}

State Dbn::below_top(const State& top_visible) const {
  if (shape_.classes == 0) return top_visible;
  return {columns(top_visible.bits(), 0, label_begin()), top_visible.levels()};
}

State Dbn::joined_top(const State& below_top, const State& visible) const {
  return with_labels(below_top, visible, shape_.values, shape_.classes);
}

State Dbn::joined_visible(const State& values, const State& top_visible) const {
  return with_labels(values, top_visible, label_begin(), shape_.classes);
}

std::vector<State> Dbn::draw_up(State values, std::size_t count, const LayerDraws& draws,
                                const Context& context) const {
  assert(count < depth());
  std::vector<State> out;
  const std::size_t chains = values.chains();
  out.push_back(std::move(values));
  for (std::size_t k = 0; k < count; ++k) {
    out.push_back(stages_[k].make_state(Rbm::kHidden, chains));
    recognition(k).resample(Rbm::kHidden, std::span(out).subspan(k, 2), draws.at(k + 1), draws.first_chain, context);
  }
  return out;
}

std::vector<State> Dbn::draw_down(State below_top, const LayerDraws& draws, const Context& context) const {
  std::vector<State> out(depth());
  const std::size_t chains = below_top.chains();
  out.back() = std::move(below_top);
  for (std::size_t k = depth() - 1; k-- > 0;) {
    out[k] = stages_[k].make_state(Rbm::kVisible, chains);
    stages_[k].resample(Rbm::kVisible, std::span(out).subspan(k, 2), draws.at(k), draws.first_chain, context);
  }
  return out;
}

std::vector<double> Dbn::energy(LayerStates layers, const Context& context) const {
  const State pair[] = {joined_top(layers[depth() - 1], layers[0]), layers[depth()]};
  std::vector<double> out = top().energy(std::span<const State>(pair), context);
  for (std::size_t k = 0; k + 1 < depth(); ++k) {
    const std::vector<double> logs =
        log_conditional(stages_[k], Rbm::kVisible, k == 0 ? values_of(layers[0]) : layers[k], layers[k + 1], context);
    for (std::size_t r = 0; r < out.size(); ++r) out[r] -= logs[r];
  }
  return out;
}

std::vector<double> Dbn::log_weights(std::span<const State> up, const State& visible, const Context& context) const {
  std::vector<double> out = top().free_energy(joined_top(up.back(), visible), context);
  for (double& energy : out) energy = -energy;
  for (std::size_t k = 0; k + 1 < depth(); ++k) {
    const std::vector<double> down = log_conditional(stages_[k], Rbm::kVisible, up[k], up[k + 1], context);
    const std::vector<double> upward = log_conditional(recognition(k), Rbm::kHidden, up[k + 1], up[k], context);
    for (std::size_t r = 0; r < out.size(); ++r) out[r] += down[r] - upward[r];
  }
  return out;
}

bool Dbn::summable() const {
  double most = 0.0;
  for (std::size_t k = 0; k + 1 < depth(); ++k) {
    const auto own = static_cast<double>(shape_.hidden[k]);
    most = std::max(most, k == 0 ? own : own + static_cast<double>(shape_.hidden[k - 1]));
  }
  return most <= kMostSummedBits;
}

/// From the top down: with s_{L-1}(h) = -F_top(h, y) and s_k(h) = log sum over h' of p(h | h') exp(s_{k+1}(h')), the
/// last of these sums is that of the rows.
std::optional<std::vector<double>> Dbn::log_sums(const State& visible, const Context& context) const {
  assert(summable());
  const auto all_states = [](const Rbm& stage) {
    const AllStates all(stage.hidden());
    return all.states(0, static_cast<std::size_t>(all.count()));
  };
  std::vector<double> out(visible.chains());
  const State values = values_of(visible);
  for (std::size_t label = 0; label < std::max<std::size_t>(shape_.classes, 1); ++label) {
    State above = all_states(stages_[depth() - 2]);
    State labels = make_state(visible_layer(), above.chains());
    if (shape_.classes > 0) {
      for (std::size_t r = 0; r < labels.chains(); ++r) {
        for (std::size_t c = 0; c < shape_.classes; ++c) labels.bits().set(r, shape_.values + c, c == label);
      }
    }
    std::vector<double> sums = top().free_energy(joined_top(above, labels), context);
    for (double& sum : sums) sum = -sum;
    const auto lower = [&](const Rbm& stage, const State& below) {
      std::vector<std::vector<double>> terms(below.chains(), std::vector<double>(above.chains()));
      for_fields(above, stage.map_to(Rbm::kVisible), context, [&](std::size_t a, std::span<const double> fields) {
        const double rest = sums[a] - log_sum(stage.visible(), {fields, {}});
        for (std::size_t r = 0; r < below.chains(); ++r) {
          double sum = rest;
          for_each_set(below.bits().row(r), [&](std::size_t i) { sum += fields[i]; });
          terms[r][a] = sum;
        }
      });
      std::vector<double> lowered(below.chains());
      for (std::size_t r = 0; r < lowered.size(); ++r) lowered[r] = log_sum_of(terms[r]);
      return lowered;
    };
    for (std::size_t k = depth() - 2; k > 0; --k) {
      State below = all_states(stages_[k - 1]);
      sums = lower(stages_[k], below);
      above = std::move(below);
    }
    for (std::size_t first = 0; first < values.chains(); first += kStatesAtATime) {
      if (context.stop_requested()) return std::nullopt;
      const State some = values.rows(first, std::min(kStatesAtATime, values.chains() - first));
      const std::vector<double> found = lower(stages_[0], some);
      for (std::size_t r = 0; r < found.size(); ++r) {
        const bool own = shape_.classes == 0 || visible.bits().get(first + r, shape_.values + label);
        if (own) out[first + r] = found[r];
      }
    }
  }
  return out;
}

}  // namespace ergodic
