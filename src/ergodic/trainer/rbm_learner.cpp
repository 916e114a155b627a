#include "ergodic/trainer/rbm_learner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/data/moments.hpp"
#include "ergodic/model/exact_rbm.hpp"
#include "ergodic/sampler/gibbs.hpp"
#include "ergodic/trainer/methods.hpp"
#include "ergodic/trainer/monitor.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kMonitoredMacs = 400'000'000;  // of a product: large machines are measured on fewer rows
constexpr std::uint64_t kFirstMonitorSweep = std::uint64_t{1} << 40;  // far beyond those of training
constexpr std::size_t kMonitorSweeps = 10;
constexpr std::uint64_t kMonitorStep = 1;  // the same numbers at each record: curves show the machine, not the noise
// Real visible units begin with half of the deviations of the data as noise. With all of it a machine without couplings
// has the data's variances already, and no reason to learn.
constexpr double kFirstNoise = 0.5, kMostNoise = 1.5;
constexpr double kFirstFields = 50.0;       // deviation of a first field that is made by real units, at weight scale 1
constexpr double kHiddenOffsetRate = 0.01;  // weight of a new batch in the moving mean of the hidden layer

/// The mean of each visible unit in its own values; of units that data does not set, without fields.
std::vector<double> value_means(const Dataset& data, const Layer& layer) {
  std::vector<double> means = unit_means(data);
  if (real_valued(layer)) return means;
  const std::vector<double> even = even_shares(layer);
  means.insert(means.end(), even.begin() + static_cast<std::ptrdiff_t>(means.size()), even.end());
  const Levels levels = levels_of(layer);
  for (double& m : means) m = levels.low + levels.gap() * m;
  return means;
}

/// Rows of data with room for the units that data does not set, none of which is known.
Bits widened(const Bits& rows, std::size_t units) {
  Bits out(rows.rows(), units);
  for (std::size_t r = 0; r < rows.rows(); ++r) std::ranges::copy(rows.row(r), out.row(r).begin());
  return out;
}

std::vector<double> deviations_of(const Dataset& data, const Layer& layer) {
  return real_valued(layer) ? unit_deviations(data) : std::vector<double>();
}

std::vector<double> log_precisions_of(std::vector<double> deviations) {
  for (double& value : deviations) value = -2.0 * portable_log(value);
  return deviations;
}

/// The offsets of centring before anything is known: the means without fields; or what makes the gradient that of the
/// plain machine in {0,1} units.
std::vector<double> first_offsets(const Layer& layer, Precision precision, bool centred) {
  if (!centred) return std::vector<double>(units_of(layer), real_valued(layer) ? 0.0 : levels_of(layer).low);
  const std::vector<double> no_fields(units_of(layer));
  std::vector<float> out(units_of(layer));
  means(layer, {no_fields, precision}, out);
  return {out.begin(), out.end()};
}

bool has_real_units(const Rbm& model) { return real_valued(model.visible()) || real_valued(model.hidden()); }

}  // namespace

void initialise(Rbm& model, const Dataset& data, double weight_scale, Key key, const Context& context) {
  const std::vector<double> deviations = deviations_of(data, model.visible());
  std::vector<double> noise = deviations;
  for (double& deviation : noise) deviation *= kFirstNoise;
  // A unit that never changes would get an infinite bias: no mean is taken to be closer to a level than this.
  const double margin = 1.0 / (static_cast<double>(data.rows()) + 2.0);
  const Draw draw = key.at(Purpose::kInitialWeights);
  const std::vector<double> fields =
      fields_for_means(model.visible(), value_means(data, model.visible()), noise, margin);
  // Fields of real units add up over as many terms as there are units.
  const double spread = kFirstFields / std::sqrt(static_cast<double>(data.units()));
  model.update(
      [&](Parameters& parameters) {
        const MatrixView<float> weights(parameters["weights"].data(), fields.size(), units_of(model.hidden()));
        context.for_blocks(weights.rows(), 1, [&](std::size_t i, std::size_t) {
          const double scale = deviations.empty() ? 1.0 / gap_of(model.visible()) : spread / deviations[i];
          for (std::size_t j = 0; j < weights.cols(); ++j) {
            const double normal = draw.normal(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j));
            weights(i, j) = static_cast<float>(weight_scale * scale / gap_of(model.hidden()) * normal);
          }
        });
        for (const UnitPairs& none : model.structure().uncoupled) {
          for (std::size_t i = none.first_row; i < none.first_row + none.rows; ++i) {
            std::ranges::fill(weights.row(i).subspan(none.first_column, none.columns), 0.0f);
          }
        }
        for (std::size_t i = 0; i < fields.size(); ++i) {
          parameters["visible_bias"][i] = static_cast<float>(fields[i]);
        }
        std::fill(parameters["hidden_bias"].begin(), parameters["hidden_bias"].end(), 0.0f);
        for (std::size_t i = 0; i < deviations.size(); ++i) {
          parameters[Rbm::precision_slot(Rbm::kVisible)][i] = static_cast<float>(-2.0 * portable_log(noise[i]));
        }
      },
      context);
}

RbmLearner::RbmLearner(Rbm& model, const Dataset& train, const Dataset& held_out, const TrainOptions& options, Key key,
                       const Context& context, BatchSource source)
    : model_(model),
      train_(train),
      options_(settled(options, {}, train.rows())),
      key_(key),
      source_(std::move(source)),
      simulator_(model, Gibbs{}),
      optimiser_(optimiser_of(options)),
      hidden_penalties_(options.hidden_penalty, model),
      log_precisions_(log_precisions_of(deviations_of(train, model.visible()))),
      gaps_(gaps_of(model, train)),
      visible_offset_(!options.uncentred ? value_means(train, model.visible())
                                         : first_offsets(model.visible(), {}, false)),
      velocity_(memory_of(optimiser_, model.parameters().values().size())),
      hidden_offset_(first_offsets(model.hidden(), model.precision(Rbm::kHidden), !options.uncentred)),
      monitored_train_(monitored(model, train, key)) {
  const Structure& structure = model.structure();
  require(train.units() == structure.observed,
          fmt::format("the machine has {} visible units, the data {}", structure.observed, train.units()));
  require(std::holds_alternative<Sgd>(optimiser_) || structure.uncoupled.empty(),
          "machines of several layers are trained by --optimiser sgd");
  if (held_out.rows() > 0) monitored_held_out_ = monitored(model, held_out, key);
  if (!source_ && (!train.complete() || structure.observed < units_of(model.visible()))) {
    completion_ =
        Completion(train, independent_start(model, train.rows(), key, context, kFirstDataChain).layers[Rbm::kVisible]);
  }
  require(options.method != kPseudoLikelihood.name,
          "--method pseudo is for --model boltzmann, whose units depend on no hidden ones; take pcd, cd or exact");
  negative_ = method_named(options.method).make(simulator_, options_, key, context);
}

RbmLearner::Monitored RbmLearner::monitored(const Rbm& model, const Dataset& data, Key key) {
  const std::vector<std::uint32_t> rows = monitored_rows(data, kMonitoredMacs / model.weights().elements().size(), key);
  const Values values = gather(data, rows, key, 0);
  const std::size_t units = units_of(model.visible());
  if (data.units() == units && data.complete()) return {state_of(model.visible(), values), {}};
  Bits known(rows.size(), data.units());
  gather_known(data, rows, known);
  if (data.units() == units) return {state_of(model.visible(), values), std::move(known)};
  return {State(widened(std::get<Bits>(values), units), levels_of(model.visible())), widened(known, units)};
}

/// The rows that monitors see: what is missing is drawn.
State RbmLearner::shown(const Monitored& monitored, const Context& context) const {
  if (monitored.known.rows() == 0) return monitored.rows;
  Chains chains = start_at(model_, monitored.rows, kFirstMonitorSweep, key_, context, kFirstDataChain);
  complete(model_, monitored.known, kMonitorSweeps, chains, key_, context);
  return chains.layers[Rbm::kVisible];
}

void RbmLearner::restore(LearnerState state) {
  completion_.restore(std::move(state.completed));
  velocity_ = std::move(state.velocity);
  const auto hidden_end = state.offsets.begin() + static_cast<std::ptrdiff_t>(hidden_offset_.size());
  std::copy(state.offsets.begin(), hidden_end, hidden_offset_.begin());
  std::copy(hidden_end, state.offsets.end(),
            visible_offset_.begin() + static_cast<std::ptrdiff_t>(model_.structure().observed));
  negative_->take(state);
}

LearnerState RbmLearner::state() const {
  std::vector<double> offsets = hidden_offset_;
  offsets.insert(offsets.end(), visible_offset_.begin() + static_cast<std::ptrdiff_t>(model_.structure().observed),
                 visible_offset_.end());
  LearnerState out{velocity_, std::move(offsets), {}, completion_.draws()};
  negative_->put(out);
  return out;
}

Measures RbmLearner::measure(const Context& context) const {
  Measures out = ergodic::measure(model_, shown(monitored_train_, context), shown(monitored_held_out_, context), key_,
                                  kMonitorStep, context);
  std::ranges::move(negative_->measures(), std::back_inserter(out));
  // Rows that are part drawn say nothing of the likelihood of the data.
  if (monitored_train_.known.rows() > 0) std::erase_if(out, [](const auto& m) { return m.first == "log_likelihood"; });
  return out;
}

std::optional<HeldOutLoss> RbmLearner::held_out_loss(const Context& context) const {
  if (monitored_train_.known.rows() > 0 || monitored_held_out_.known.rows() > 0) return std::nullopt;
  return ergodic::held_out_loss(model_, monitored_held_out_.rows, key_, kMonitorStep, context);
}

Measures RbmLearner::vitals() const { return {{"weight_norm", weight_norm(model_)}}; }

std::span<const float> RbmLearner::parameters() const { return model_.parameters().values(); }

void RbmLearner::set_parameters(std::span<const float> values, const Context& context) {
  model_.update([&](Parameters& p) { std::ranges::copy(values, p.values().begin()); }, context);
}

/// The rows of this turn, with hidden states drawn given them.
void RbmLearner::gather_batch(const UpdateStep& now, const Context& context) {
  if (data_.count() != now.rows.size()) {
    data_.layers = {model_.make_state(Rbm::kVisible, now.rows.size()),
                    model_.make_state(Rbm::kHidden, now.rows.size())};
  }
  if (source_) {
    source_(now, data_.layers[Rbm::kVisible], context);
  } else if (completion_.needed()) {
    data_.layers[Rbm::kVisible] = completion_.gather(now.rows, key_, now.epoch, known_);
  } else {
    const Timed timed(context.profile, ProfiledStage::kGather);
    State& visible = data_.layers[Rbm::kVisible];
    visible.real() ? gather(train_, now.rows, visible.reals())
                   : gather(train_, now.rows, key_, now.epoch, visible.bits(), context);
  }
  const Draw draw = key_.at(Purpose::kDataHidden, now.update);
  // The data's side of real hidden units is what they are on average, and chains that live on do not look at draws.
  const bool averaged = real_valued(model_.hidden());
  if (averaged && hidden_means_.chains() != now.rows.size()) {
    hidden_means_ = model_.make_state(Rbm::kHidden, now.rows.size());
  }
  if (averaged && !completion_.needed()) {
    Matrix<float>& means = hidden_means_.reals();
    return negative_->chains() ? model_.find_float_means(Rbm::kHidden, data_.layers[Rbm::kVisible], means, context)
                               : model_.resample_with_means(Rbm::kHidden, data_.layers, draw, 0, means, context);
  }
  model_.resample(Rbm::kHidden, data_.layers, draw, 0, context);
  if (!completion_.needed()) return;
  data_.sweep = now.update * *options_.steps;
  complete(model_, known_, *options_.steps, data_, key_, context);
  completion_.keep(now.rows, data_.layers[Rbm::kVisible]);
  if (averaged) {
    model_.find_float_means(Rbm::kHidden, data_.layers[Rbm::kVisible], hidden_means_.reals(), context);
  }
}

void RbmLearner::learn(const UpdateStep& now, const Context& context) {
  gather_batch(now, context);
  const ModelTerm model_term = negative_->advance(simulator_, data_, now.update, key_, context);
  const auto* chains = std::get_if<const Chains*>(&model_term);
  if (chains && !has_real_units(model_)) {
    ascend_bits(**chains, {now.update, now.rate}, context);
  } else if (chains) {
    ascend_real(**chains, {now.update, now.rate}, context);
  } else {
    ascend(std::get<Statistics>(model_term), {now.update, now.rate}, context);
  }
  negative_->follow(simulator_, now, key_, context);
}

/// Summed over the rows with weight 1 and divided once: sums of bits are whole numbers, exact in any order.
Statistics RbmLearner::mean_statistics(const State& visible, const Moments& hidden, const Context& context) const {
  constexpr double kOne = 1.0;
  Statistics out(model_.parameters().values().size());
  model_.add_statistics(Rbm::kVisible, visible, hidden, {&kOne, 1}, out, context);
  for (double& sum : out) sum /= static_cast<double>(visible.chains());
  return out;
}

std::span<const double> RbmLearner::mean_of(const State& hidden) {
  hidden_means_of_batch_.assign(hidden_offset_.size(), 0.0);
  constexpr double kOne = 1.0;
  add_column_sums(hidden, {&kOne, 1}, hidden_means_of_batch_);
  for (double& sum : hidden_means_of_batch_) sum /= static_cast<double>(hidden.chains());
  return hidden_means_of_batch_;
}

Decay RbmLearner::decay_now(std::span<const double> hidden_means, const Context& context) {
  Decay out = options_.decay;
  out.hidden = hidden_penalties_.find(model_, gaps_, hidden_means, context);
  return out;
}

template <class Find>
void RbmLearner::ascend_by_optimiser(StepSize size, const Find& find, const Context& context) {
  model_.update(
      [&](Parameters& p) {
        find(p, centred_step_.gradient(p.values().size()));
        const Timed timed(context.profile, ProfiledStage::kStep);
        centred_step_.step(optimiser_, size, visible_offset_, hidden_offset_, velocity_, p, context);
        bound_precisions(p);
      },
      context);
}

/// The step by exact statistics, in double. The data term has no noise, its hidden layer being means.
void RbmLearner::ascend(const Statistics& model_term, StepSize size, const Context& context) {
  const State& batch = data_.layers[Rbm::kVisible];
  Statistics gradient = mean_statistics(batch, model_.conditional_moments(Rbm::kHidden, batch, context), context);
  const Slot& hidden = model_.parameters().slot("hidden_bias");
  const std::span<const double> hidden_means = std::span<const double>(gradient).subspan(hidden.offset, hidden.size);
  const Decay decay = decay_now(hidden_means, context);
  if (!options_.uncentred) {
    for (std::size_t j = 0; j < hidden_offset_.size(); ++j) {
      hidden_offset_[j] += kHiddenOffsetRate * (hidden_means[j] - hidden_offset_[j]);
    }
  }
  for (std::size_t k = 0; k < model_term.size(); ++k) gradient[k] -= model_term[k];
  condition(model_, gaps_, visible_offset_, hidden_offset_, decay, gradient, context);
  const Sgd* const sgd = std::get_if<Sgd>(&optimiser_);
  if (!sgd) {
    const auto copy = [&](Parameters&, std::span<float> out) {
      std::ranges::transform(gradient, out.begin(), [](double g) { return static_cast<float>(g); });
    };
    return ascend_by_optimiser(size, copy, context);
  }
  model_.update(
      [&](Parameters& p) {
        ergodic::step(*sgd, size, std::span<const double>(gradient), velocity_, p, context);
        bound_precisions(p);
      },
      context);
}

/// The step by samples of a machine of bits, in counts.
void RbmLearner::ascend_bits(const Chains& samples, StepSize size, const Context& context) {
  std::span<const double> hidden_means;
  if (hidden_penalties_.sparse()) hidden_means = mean_of(data_.layers[Rbm::kHidden]);
  const SampledTerms terms{data_,
                           samples,
                           {visible_offset_, hidden_offset_, options_.uncentred ? 0.0 : kHiddenOffsetRate},
                           decay_now(hidden_means, context)};
  if (const Sgd* sgd = std::get_if<Sgd>(&optimiser_)) {
    return ascent_.step(model_, terms, *sgd, size.rate, velocity_, context);
  }
  ascend_by_optimiser(
      size, [&](Parameters& p, std::span<float> gradient) { ascent_.find(model_, p, terms, gradient, context); },
      context);
}

/// The step by samples of a machine with real units, in float.
void RbmLearner::ascend_real(const Chains& samples, StepSize size, const Context& context) {
  const State& hidden = real_valued(model_.hidden()) ? hidden_means_ : data_.layers[Rbm::kHidden];
  std::span<const double> hidden_means;
  if (!options_.uncentred || hidden_penalties_.sparse()) hidden_means = mean_of(hidden);
  if (!options_.uncentred) {
    for (std::size_t j = 0; j < hidden_means.size(); ++j) {
      hidden_offset_[j] += kHiddenOffsetRate * (hidden_means[j] - hidden_offset_[j]);
    }
  }
  const RealTerms terms{{data_.layers[Rbm::kVisible], hidden},
                        {samples.layers[Rbm::kVisible], samples.layers[Rbm::kHidden]},
                        gaps_,
                        visible_offset_,
                        hidden_offset_,
                        decay_now(hidden_means, context)};
  if (const Sgd* sgd = std::get_if<Sgd>(&optimiser_)) {
    const auto bound = [this](Parameters& p) { bound_precisions(p); };
    return real_gradient_.ascend(model_, terms, *sgd, size, velocity_, bound, context);
  }
  ascend_by_optimiser(
      size,
      [&](Parameters&, std::span<float> gradient) {
        std::ranges::copy(real_gradient_.find(model_, terms, context), gradient.begin());
      },
      context);
}

/// Keeps the noise of real visible units between a share and three halves of the deviations of the data.
void RbmLearner::bound_precisions(Parameters& parameters) const {
  if (log_precisions_.empty()) return;
  const double least = -2.0 * portable_log(kMostNoise), most = -2.0 * portable_log(options_.least_noise);
  const std::span<float> logs = parameters[Rbm::precision_slot(Rbm::kVisible)];
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const double of_data = log_precisions_[i];
    logs[i] = static_cast<float>(std::clamp(double{logs[i]}, of_data + least, of_data + most));
  }
}

Trainer trainer_of(Rbm& model, const Dataset& train, const Dataset& held_out, const TrainOptions& options, Key key,
                   const Context& context) {
  return Trainer(std::make_unique<RbmLearner>(model, train, held_out, options, key, context), train, options, key);
}

}  // namespace ergodic
