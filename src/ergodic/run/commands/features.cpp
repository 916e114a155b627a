// `ergodic features`: the hidden units of a machine at each row of data.
#include "ergodic/run/features.hpp"

#include <fmt/format.h>

#include "ergodic/machine/model_file.hpp"
#include "ergodic/run/commands/data.hpp"
#include "ergodic/run/commands/json.hpp"
#include "ergodic/run/commands/output.hpp"
#include "ergodic/run/commands/request.hpp"

namespace ergodic {
namespace {

struct FeaturesRequest {
  std::filesystem::path model;
  DataOptions data;
  Split split = Split::kAuto;
  FeatureOptions options;
  std::uint64_t seed = 1;
  std::filesystem::path out;
};

Spec<FeaturesRequest> make_spec() {
  Spec<FeaturesRequest> spec;
  add_model_file(spec, &FeaturesRequest::model);
  spec.include(data_spec(), &FeaturesRequest::data);
  spec.group("Data");
  add_split(spec, &FeaturesRequest::split);
  spec.group("Features")
      .add(
          "layer", [](auto& r) -> auto& { return r.options.layer; },
          "which hidden layer, counted from 1 at the data; an RBM has one")
      .range(1, 1000)
      .automatic("the highest")
      .add(
          "drawn", [](auto& r) -> auto& { return r.options.drawn; },
          "draw the hidden units instead of taking their expected values")
      .add(
          "sweeps", [](auto& r) -> auto& { return r.options.sweeps; },
          "sweeps of a chain at each row, where expected values have no formula: rows with missing values, and hidden "
          "units on a graph; the second half is averaged")
      .range(1, 1e9)
      .advanced();
  add_seed(spec, &FeaturesRequest::seed);
  spec.group("Output")
      .add("out", &FeaturesRequest::out,
           "a row of hidden units for each row of data: an array (.npy) or a table (.csv)")
      .role(PathRole::kOutput)
      .required();
  return spec;
}

Outcome run(const FeaturesRequest& request, bool json, const Context& context) {
  require_ending("--out", request.out, {".npy", ".csv"});
  require_distinct({{"--data", request.data.source}, {"--labels", request.data.labels}, {"--out", request.out}});
  const ModelFile file = load_model(request.model);
  const Machine& machine = *file.machine;
  const Key key{request.seed};
  const Dataset data = load_split_for(file, request.data, request.split, context).chosen;
  const Features found = features(machine, open_rows_of(machine.visible(), data, key), request.options, key, context);
  if (found.stopped) return {"", "stopped; nothing written\n", true};
  std::vector<std::string> names;
  for (std::size_t j = 0; j < found.values.cols(); ++j) names.push_back(fmt::format("hidden {}", j + 1));
  write_table(request.out, names, found.values);
  const Json out{{"out", request.out.string()},
                 {"rows", found.values.rows()},
                 {"features", found.values.cols()},
                 {"method", found.by_chains ? "chains" : "exact"}};
  return {json ? printed(out) : "",
          fmt::format("{} features of {} rows are in {}{}\n", found.values.cols(), found.values.rows(),
                      request.out.string(),
                      found.by_chains ? fmt::format(", by chains of {} sweeps", request.options.sweeps) : ""),
          false};
}

}  // namespace

Command features_command() {
  return command_of("features", "write the hidden units of a machine at each row of data",
                    "ergodic features digits.safetensors --data mnist --out features.npy", make_spec(), run);
}

}  // namespace ergodic
