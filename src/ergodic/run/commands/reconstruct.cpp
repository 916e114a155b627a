// `ergodic reconstruct`: data beside what the machine makes of it.
#include "ergodic/run/reconstruct.hpp"

#include <fmt/format.h>

#include "ergodic/format/png.hpp"
#include "ergodic/machine/model_file.hpp"
#include "ergodic/machine/pictures.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/report/sheet.hpp"
#include "ergodic/run/commands/data.hpp"
#include "ergodic/run/commands/json.hpp"
#include "ergodic/run/commands/output.hpp"
#include "ergodic/run/commands/request.hpp"

namespace ergodic {
namespace {

struct ReconstructRequest {
  std::filesystem::path model;
  DataOptions data;
  Split split = Split::kAuto;
  std::uint64_t count = 50;
  std::uint64_t seed = 1;
  std::filesystem::path out;
  std::uint64_t scale = 1;
};

Spec<ReconstructRequest> make_spec() {
  Spec<ReconstructRequest> spec;
  add_model_file(spec, &ReconstructRequest::model);
  spec.include(complete_data_spec(), &ReconstructRequest::data);
  spec.group("Data");
  add_split(spec, &ReconstructRequest::split);
  spec.group("Reconstruction")
      .add("count", &ReconstructRequest::count, "how many rows, from the first")
      .range(1, 100000000);
  add_seed(spec, &ReconstructRequest::seed);
  spec.group("Output")
      .add("out", &ReconstructRequest::out,
           "a picture of rows beside their reconstructions (.png), or the reconstructions (.npy, .csv)")
      .role(PathRole::kOutput)
      .required();
  add_scale(spec, &ReconstructRequest::scale);
  return spec;
}

Outcome run(const ReconstructRequest& request, bool json, const Context& context) {
  require_ending("--out", request.out, {".png", ".npy", ".csv"});
  require_distinct({{"--data", request.data.source}, {"--labels", request.data.labels}, {"--out", request.out}});
  const ModelFile file = load_model(request.model);
  const Machine& machine = *file.machine;
  const Key key{request.seed};
  const Dataset data = load_split_for(file, request.data, request.split, context).chosen;
  const State rows = first_rows(machine.visible(), data, request.count, key);
  const Reconstructions made = reconstruct(machine, rows, key, context);
  if (is_picture(request.out)) {
    const Image picture = picture_of_pairs(machine.visible(), rows, made.values, data.shape);
    write_png(request.out, magnified(picture, request.scale));
  } else {
    write_rows(request.out, made.values, rows_file(file, RowValues::kMeans));
  }
  const Json out{{"out", request.out.string()}, {"count", rows.chains()}, {"reconstruction_error", made.error}};
  return {json ? printed(out) : "",
          fmt::format(
              "{} reconstructions are in {}; {}\n", rows.chains(), request.out.string(),
              rows.real()
                  ? fmt::format("the root of the mean squared difference to the data is {:.4g}", made.error)
                  : fmt::format("{:.2f} % of their units are expected to differ from the data", 100.0 * made.error)),
          false};
}

}  // namespace

Command reconstruct_command() {
  return command_of("reconstruct", "show data beside its reconstructions by a machine",
                    "ergodic reconstruct digits.safetensors --data mnist --out pairs.png", make_spec(), run);
}

}  // namespace ergodic
