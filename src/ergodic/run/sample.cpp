#include "ergodic/run/sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ergodic/run/output.hpp"
#include "ergodic/run/pictures.hpp"
#include "ergodic/sampler/gibbs.hpp"
#include "ergodic/model/visible_marginal.hpp"
#include "ergodic/sampler/metropolis.hpp"
#include "ergodic/store/model_file.hpp"

namespace ergodic {
namespace {

/// The expected share of units or sites that differ between a row and a draw of its reconstruction; of real units the
/// root of the mean squared difference to the expected values.
double mean_difference(const Layer& visible, const State& rows, const Matrix<float>& means) {
  const Matrix<float> values = plain_values(rows);
  double sum = 0.0;
  for (std::size_t k = 0; k < values.elements().size(); ++k) {
    const double difference = double{values.elements()[k]} - means.elements()[k];
    sum += rows.real() ? difference * difference : std::abs(difference);
  }
  const double sites = static_cast<double>(rows.chains() * sites_of(visible));
  // Where one letter takes the place of another, two units differ.
  return rows.real() ? std::sqrt(sum / sites) : sum / sites / (letters_of(visible) > 0 ? 2.0 : 1.0);
}

nlohmann::ordered_json json_of(const Diagnosis& diagnosis) {
  return {{"mean", diagnosis.mean},         {"standard_error", diagnosis.standard_error},
          {"r_hat", diagnosis.r_hat},       {"ess_bulk", diagnosis.ess_bulk},
          {"ess_tail", diagnosis.ess_tail}, {"autocorrelation_time", diagnosis.autocorrelation_time}};
}

nlohmann::ordered_json json_of(const std::optional<MixingReport>& report) {
  if (!report) return nullptr;
  nlohmann::ordered_json out{{"mixed", nullptr}};
  if (report->verdict.mixing != Mixing::kUnknown) out["mixed"] = report->verdict.mixing == Mixing::kYes;
  if (!report->verdict.reason.empty()) out["reason"] = report->verdict.reason;
  out["chains"] = report->chains;
  out["draws"] = report->draws;
  out["every"] = report->every;
  out["quantities"] = nlohmann::ordered_json::object();
  for (const auto& quantity : report->quantities) {
    std::string key = quantity.name;
    std::replace(key.begin(), key.end(), ' ', '_');
    out["quantities"][key] = json_of(quantity.diagnosis);
  }
  return out;
}

/// The sampler that was asked for. Metropolis adapts its noise in the first half of the run, which is warm-up.
class Sampling {
 public:
  Sampling(const SampleRequest& request, const Rbm& model)
      : metropolis_(request.sampler == SamplerKind::kMetropolis), warm_up_(request.sweeps / 2), model_(model) {
    kernel_.flips = request.flips;
  }

  void sweep(Chains& chains, Key key, const Context& context) {
    if (!metropolis_) {
      step(Gibbs{}, model_, chains, key, context);
      return;
    }
    const std::uint64_t before = chains.sweep;
    const StepInfo info = step(kernel_, VisibleMarginal{model_}, chains, key, context);
    model_.resample(Rbm::kHidden, chains.layers, key.at(Purpose::kGibbs, before, Rbm::kHidden), chains.first_chain,
                    context);
    if (before < warm_up_) {
      kernel_ = adapted(kernel_, info, before);
    } else {
      accepted_ += info.accepted;
      ++counted_;
    }
  }

  std::optional<double> accepted() const {
    if (counted_ == 0) return std::nullopt;
    return accepted_ / static_cast<double>(counted_);
  }

 private:
  bool metropolis_;
  std::uint64_t warm_up_;
  const Rbm& model_;
  Metropolis kernel_;
  double accepted_ = 0.0;
  std::uint64_t counted_ = 0;
};

}  // namespace

Spec SampleRequest::spec() {
  Spec spec;
  spec.group("").path("model", model, "a machine that `ergodic train` wrote").positional().required();
  spec.group("Sampling")
      .count("count", count, 1, 1000000, "how many samples, each from a chain of its own")
      .count("sweeps", sweeps, 1, 1000000000000, "sweeps from the start to the sample")
      .choice("sampler", sampler,
              "how a sweep changes the chains: each layer drawn in turn, or proposals that are accepted or not")
      .count("flips", flips, 1, 1000000, "units that a proposal of metropolis changes at most, unless they are real")
      .flag("means", means, "show the expected values given the hidden layer instead of drawn states")
      .count("seed", seed, 0, ~std::uint64_t{0}, "names the random numbers");
  spec.group("Output").path("out", out, "a picture sheet (.png) or an array (.npy)").required();
  return spec;
}

SampleResult draw_samples(const SampleRequest& request, const Context& context) {
  require_picture_or_array(request.out);
  const ModelFile file = load_model(request.model);
  const Rbm& model = file.model;
  const Key key{request.seed};
  const auto started = std::chrono::steady_clock::now();
  Chains chains = far_start(model, request.count, key, context);
  MixingWatch watch(model, request.count, request.sweeps);
  Sampling sampling(request, model);
  SampleResult result{request.out, request.count, 0, 0.0, false, std::nullopt, std::nullopt};
  while (chains.sweep < request.sweeps && !context.stop_requested()) {
    sampling.sweep(chains, key, context);
    watch.look(chains, context);
    context.progress({chains.sweep, request.sweeps});
  }
  result.accepted = sampling.accepted();
  result.sweeps = chains.sweep;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  result.stopped = chains.sweep < request.sweeps;
  if (result.stopped) return result;
  result.mixing = watch.report();
  if (result.mixing->verdict.mixing == Mixing::kNo) context.warn(sentence(*result.mixing));
  const Matrix<float> values = request.means ? plain_means(model, chains.layers[Rbm::kHidden], context)
                                             : plain_values(chains.layers[Rbm::kVisible]);
  if (is_array(request.out)) {
    write_values(request.out, values);
  } else {
    const PictureShape shape = shape_from_notes(file.notes, values.cols());
    write_png(request.out, picture_of_rows(drawable(values, model.visible()), shape));
  }
  return result;
}

Spec ReconstructRequest::spec() {
  Spec spec;
  spec.group("").path("model", model, "a machine that `ergodic train` wrote").positional().required();
  add_data_options(spec, data);
  add_split_option(spec, split);
  spec.group("Reconstruction")
      .count("count", count, 1, 100000000, "how many rows, from the first")
      .count("seed", seed, 0, ~std::uint64_t{0}, "names the random numbers");
  spec.group("Output")
      .path("out", out, "a picture of rows beside their reconstructions (.png), or the reconstructions (.npy)")
      .required();
  return spec;
}

ReconstructResult draw_reconstructions(const ReconstructRequest& request, const Context& context) {
  require_picture_or_array(request.out);
  const ModelFile file = load_model(request.model);
  const Layer& visible = file.model.visible();
  const Dataset data = load_split_for(visible, request.data, request.split);
  const Key key{request.seed};
  const State rows = first_rows(visible, data, request.count, key);
  const Matrix<float> made = reconstructions(file.model, rows, key, context);
  if (is_array(request.out)) {
    write_values(request.out, made);
  } else {
    write_png(request.out, picture_of_pairs(visible, rows, made, data.shape));
  }
  return {rows.real(), request.out, rows.chains(), mean_difference(visible, rows, made)};
}

std::string to_json(const SampleResult& result) {
  nlohmann::ordered_json out{{"out", result.out.string()}, {"count", result.count},
                             {"sweeps", result.sweeps},    {"seconds", result.seconds},
                             {"stopped", result.stopped},  {"mixing", json_of(result.mixing)}};
  if (result.accepted) out["accepted"] = *result.accepted;
  return out.dump(2);
}

std::string to_json(const ReconstructResult& result) {
  const nlohmann::ordered_json out{
      {"out", result.out.string()}, {"count", result.count}, {"reconstruction_error", result.error}};
  return out.dump(2);
}

}  // namespace ergodic
