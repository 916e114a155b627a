#include "ergodic/run/sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>

#include "ergodic/run/output.hpp"
#include "ergodic/run/pictures.hpp"
#include "ergodic/sampler/gibbs.hpp"
#include "ergodic/store/model_file.hpp"

namespace ergodic {

Spec SampleRequest::spec() {
  Spec spec;
  spec.group("").path("model", model, "a machine that `ergodic train` wrote").positional().required();
  spec.group("Sampling")
      .count("count", count, 1, 1000000, "how many samples, each from a chain of its own")
      .count("sweeps", sweeps, 1, 1000000000000, "Gibbs sweeps from the start to the sample")
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
  SampleResult result{request.out, request.count, 0, 0.0, false};
  while (chains.sweep < request.sweeps && !context.stop_requested()) {
    step(Gibbs{}, model, chains, key, context);
    context.progress({chains.sweep, request.sweeps});
  }
  result.sweeps = chains.sweep;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  result.stopped = chains.sweep < request.sweeps;
  if (result.stopped) return result;
  const Matrix<float> values = request.means ? drawable_means(model, chains.layers[Rbm::kHidden], context)
                                             : drawable(chains.layers[Rbm::kVisible]);
  if (is_array(request.out)) {
    write_values(request.out, values);
  } else {
    write_png(request.out, picture_of_rows(values, shape_from_notes(file.notes, values.cols())));
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
  const Dataset data = load_split(request.data, request.split);
  require_matching_units(data, units_of(file.model.visible()));
  const Key key{request.seed};
  std::vector<std::uint32_t> chosen(std::min<std::size_t>(request.count, data.rows()));
  std::iota(chosen.begin(), chosen.end(), 0u);
  const Bits rows = gather(data, chosen, key, 0);
  const Matrix<float> made = reconstructions(file.model, rows, key, context);
  if (is_array(request.out)) {
    write_values(request.out, made);
  } else {
    write_png(request.out, picture_of_pairs(rows, made, data.shape));
  }
  double differing = 0.0;
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    for (std::size_t i = 0; i < rows.cols(); ++i) differing += rows.get(r, i) ? 1.0 - made(r, i) : made(r, i);
  }
  return {request.out, rows.rows(), differing / static_cast<double>(rows.rows() * rows.cols())};
}

std::string to_json(const SampleResult& result) {
  const nlohmann::ordered_json out{{"out", result.out.string()},
                                   {"count", result.count},
                                   {"sweeps", result.sweeps},
                                   {"seconds", result.seconds},
                                   {"stopped", result.stopped}};
  return out.dump(2);
}

std::string to_json(const ReconstructResult& result) {
  const nlohmann::ordered_json out{
      {"out", result.out.string()}, {"count", result.count}, {"reconstruction_error", result.error}};
  return out.dump(2);
}

}  // namespace ergodic
