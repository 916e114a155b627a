#include "ergodic/run/sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "ergodic/core/error.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/run/finite.hpp"

namespace ergodic {
namespace {

constexpr std::uint64_t kLooks = 20;  // at states that may be sure enough, while chains go on

/// Whether all chains are given the same.
bool same_given(const State& x, const Bits& fixed) {
  for (std::size_t r = 1; r < x.chains(); ++r) {
    for (std::size_t i = 0; i < fixed.cols(); ++i) {
      if (fixed.get(0, i) && x.value(r, i) != x.value(0, i)) return false;
    }
  }
  return true;
}

/// MixingWatch for groups of so many chains in turn.
class GroupedWatch {
 public:
  GroupedWatch(const MixingWatch& each, std::size_t chains, std::size_t group)
      : group_(group), watches_(chains / group, each) {}

  void look(const Chains& chains, const Context& context) {
    for (std::size_t g = 0; g < watches_.size(); ++g) {
      Chains part;
      part.sweep = chains.sweep;
      for (const State& layer : chains.layers) part.layers.push_back(layer.rows(g * group_, group_));
      watches_[g].look(part, context);
    }
  }

  /// The worst of their reports.
  MixingReport report(bool alike) const {
    std::optional<MixingReport> out;
    for (const MixingWatch& watch : watches_) {
      MixingReport found = watch.report(alike);
      if (!out || badness(found) > badness(*out)) out = std::move(found);
    }
    return *out;
  }

 private:
  static std::pair<int, double> badness(const MixingReport& report) {
    double r_hat = 0.0;
    for (const auto& quantity : report.quantities) r_hat = std::max(r_hat, quantity.diagnosis.r_hat);
    return {report.verdict.mixing == Mixing::kNo ? 2 : report.verdict.mixing == Mixing::kUnknown ? 1 : 0, r_hat};
  }

  std::size_t group_;
  std::vector<MixingWatch> watches_;
};

/// Of each chain the first of the states looked at that the machine reads as its label surely enough; of a chain
/// without one, the surest.
class SureStates {
 public:
  SureStates(const Machine& machine, std::span<const std::size_t> labels, double sure)
      : machine_(machine), labels_(labels), sure_(sure), found_(labels.size(), -1.0F) {}

  void look(const Chains& chains, const Context& context) {
    Dataset rows;
    rows.values = machine_.visible_of(chains).bits();
    const Matrix<float> read = *machine_.class_probabilities(rows, context);
    if (chains_.layers.empty()) chains_ = chains;
    for (std::size_t r = 0; r < found_.size(); ++r) {
      const float now = read(r, labels_[r]);
      if (is_sure(r) || now <= found_[r]) continue;
      found_[r] = now;
      for (std::size_t k = 0; k < chains.layers.size(); ++k) chains_.layers[k].set_row(r, chains.layers[k], r);
    }
  }
  std::uint64_t unsure() const {
    std::uint64_t out = 0;
    for (std::size_t r = 0; r < found_.size(); ++r) out += is_sure(r) ? 0 : 1;
    return out;
  }
  const Chains& chains() const { return chains_; }

 private:
  bool is_sure(std::size_t r) const { return double{found_[r]} >= sure_; }

  const Machine& machine_;
  std::span<const std::size_t> labels_;
  double sure_;
  std::vector<float> found_;  // p(label | x) of the states that are kept
  Chains chains_;
};

LowestEnergy summary_of(const Lowest& lowest) {
  LowestEnergy out{*std::ranges::min_element(lowest.energies), 0};
  const double rounding = 1e-9 * std::max(1.0, std::abs(out.energy));
  for (const double energy : lowest.energies) out.chains += energy <= out.energy + rounding ? 1 : 0;
  return out;
}

/// The states of lowest energy in place of samples.
void put_lowest(Samples& out, const Lowest& lowest, const Machine& machine, Chains& chains) {
  out.lowest = summary_of(lowest);
  require_finite(out.lowest->energy, "the lowest energy");
  chains.layers[0] = lowest.layers[0];
  out.draws.push_back(machine.visible_of(chains));
  out.energies.push_back(lowest.energies);
}

std::vector<SampledLevel> visible_levels(const Machine& machine, const Sampling& sampling) {
  std::vector<SampledLevel> out;
  for (SampledLevel& level : sampling.levels()) {
    out.push_back({level.beta, machine.visible_of({{std::move(level.first_layer)}})});
  }
  return out;
}

}  // namespace

SampleStart labelled_start(const Machine& machine, std::span<const std::size_t> labels, std::uint64_t each, Key key,
                           const Context& context) {
  const std::optional<ClassUnits> classes = machine.class_units();
  require(classes.has_value(),
          fmt::format("a {} has no labels, by which samples could be chosen; train one with --model class-rbm or dbn",
                      machine.kind().title));
  for (const std::size_t label : labels) {
    require(label < classes->count,
            fmt::format("there is no class {}: expected a label from 0 to {}", label, classes->count - 1));
    require(
        std::ranges::find(classes->unseen, label) == classes->unseen.end(),
        fmt::format("the machine has learned from no row of class {}, and knows nothing of it; choose another class",
                    label));
  }
  SampleStart out;
  out.rows = machine.visible_of(machine.start(labels.size() * each, key, context));
  out.fixed = Bits(1, out.rows.units());
  out.given_alike = each;
  for (const std::size_t label : labels) out.labels.insert(out.labels.end(), each, label);
  for (std::size_t c = 0; c < classes->count; ++c) {
    out.fixed.set(0, classes->first + c, true);
    for (std::size_t r = 0; r < out.rows.chains(); ++r) {
      out.rows.bits().set(r, classes->first + c, out.labels[r] == c);
    }
  }
  return out;
}

Samples sample(const Machine& machine, const SamplingOptions& given, const SampleStart& start,
               const std::vector<WatchedNumber>& watched, Key key, const Context& context) {
  SamplingOptions options = given;
  if (start.fixed.rows() > 0) options.kernel.fixed = machine.mask_of(start.fixed);
  Chains chains =
      start.rows.chains() > 0 ? machine.start_at(start.rows, key, context) : machine.start(start.count, key, context);
  std::vector<WatchedNumber> numbers = machine.watched_numbers();
  numbers.insert(numbers.end(), watched.begin(), watched.end());
  const std::uint64_t sweeps = options.sweeps + (options.draws - 1) * options.every;
  const std::size_t group = start.given_alike > 0 ? start.given_alike : chains.count();
  GroupedWatch watch(MixingWatch(std::move(numbers), group, sweeps, machine.bounded_times(options)), chains.count(),
                     group);
  const std::unique_ptr<Sampling> sampling = machine.sampling(options, context);
  const bool judged =
      (start.given_alike > 0 || same_given(chains.layers[0], options.kernel.fixed)) && !sampling->lowest();
  const bool alike = start.rows.chains() > 1 && all_alike(start.rows);
  std::optional<SureStates> sure;
  if (start.sure > 0.0) sure.emplace(machine, start.labels, start.sure);
  const std::uint64_t most = sure ? 2 * sweeps : sweeps;
  const std::uint64_t between_looks = std::max<std::uint64_t>(sweeps / kLooks, 1);
  bool done = false;
  Samples out;
  context.stage({"sampling", "sweeps"});
  while (!done && !context.stop_requested()) {
    sampling->sweep(chains, key, context);
    if (judged && chains.sweep <= sweeps) watch.look(chains, context);
    context.progress({chains.sweep, most});
    done = chains.sweep == most;
    if (sure && chains.sweep >= sweeps && (chains.sweep - sweeps) % between_looks == 0) {
      sure->look(chains, context);
      done = done || sure->unsure() == 0;
    }
    const bool due = chains.sweep >= options.sweeps && (chains.sweep - options.sweeps) % options.every == 0;
    if (sure || !due || sampling->lowest()) continue;
    out.draws.push_back(machine.visible_of(chains));
    out.energies.push_back(machine.energies(chains, context));
  }
  out.sweeps = chains.sweep;
  out.accepted = sampling->accepted();
  out.swapped = sampling->swapped();
  out.stopped = !done;
  if (out.stopped) return out;
  if (sure) {
    out.unsure = sure->unsure();
    chains = sure->chains();
    out.draws.push_back(machine.visible_of(chains));
    out.energies.push_back(machine.energies(chains, context));
  }
  if (const Lowest* lowest = sampling->lowest()) {
    put_lowest(out, *lowest, machine, chains);
  } else {
    out.mixing = judged ? watch.report(alike) : not_judged("each chain completes a different row");
    if (out.mixing->verdict.mixing == Mixing::kNo) context.warn(sentence(*out.mixing, options.sampler == kTempering));
  }
  out.visible = out.draws.back();
  require_finite(out.visible, "samples");
  out.levels = visible_levels(machine, *sampling);
  out.chains = std::move(chains);
  return out;
}

}  // namespace ergodic
