// `ergodic recall`: damaged rows beside what a Hopfield network makes of them.
#include "ergodic/run/recall.hpp"

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

struct RecallRequest {
  std::filesystem::path model;
  DataOptions data;
  Split split = Split::kTrain;  ///< where the stored patterns are
  std::uint64_t count = 50;
  double damage = 0.0;
  std::uint64_t sweeps = 100;
  bool synchronous = false;
  std::uint64_t seed = 1;
  std::filesystem::path out;
  std::uint64_t scale = 1;
};

Spec<RecallRequest> make_spec() {
  Spec<RecallRequest> spec;
  add_model_file(spec, &RecallRequest::model, "a network that `ergodic train --model hopfield` wrote");
  spec.include(complete_data_spec(), &RecallRequest::data);
  spec.group("Data");
  add_split(spec, &RecallRequest::split);
  spec.group("Recall")
      .add("count", &RecallRequest::count, "how many rows, from the first")
      .range(1, 100000000)
      .add("damage", &RecallRequest::damage, "flip this share of the units of each row first")
      .range(0.0, 1.0)
      .add("sweeps", &RecallRequest::sweeps, "largest number of sweeps, for rows that do not converge")
      .range(1, 1000000000)
      .add("synchronous", &RecallRequest::synchronous, "change all units at once instead of one after the other");
  add_seed(spec, &RecallRequest::seed);
  spec.group("Output")
      .add("out", &RecallRequest::out,
           "a picture of rows beside the restored rows (.png), or the restored rows alone (.npy, .csv)")
      .role(PathRole::kOutput)
      .required();
  add_scale(spec, &RecallRequest::scale);
  return spec;
}

/// A sheet of all columns, or the last one as an array; values in [-1, 1] become grey levels.
void write_columns(const RecallRequest& request, const Layer& spins, std::vector<Matrix<float>> columns,
                   PictureShape shape, const std::vector<std::string>& names) {
  for (Matrix<float>& values : columns) {
    for (float& value : values.elements()) value = 0.5f * (value + 1.0f);
  }
  if (is_picture(request.out)) {
    write_png(request.out, magnified(picture_of_groups(columns, shape), request.scale));
  } else {
    write_rows(request.out, columns.back(), {spins, RowValues::kMeans, names});
  }
}

Matrix<float> values_of(const State& rows) {
  Matrix<float> out(rows.chains(), rows.units());
  unpack(rows, out);
  return out;
}

Json json_of_result(const RecallRequest& request, const RecallResult& result) {
  Json out{{"out", request.out.string()}, {"count", result.given.chains()}, {"stopped", result.stopped}};
  if (result.stopped) return out;
  out["converged"] = result.converged;
  out["cycles"] = result.cycles;
  out["sweeps"] = result.sweeps;
  out["energy_before"] = result.energy_before;
  out["energy_after"] = result.energy_after;
  if (result.overlap_before) out["overlap_before"] = *result.overlap_before;
  if (result.overlap_after) out["overlap_after"] = *result.overlap_after;
  return out;
}

std::string text_of_result(const RecallResult& result) {
  if (result.stopped) return "";
  std::string out = fmt::format("rows       {}\nconverged  {}", result.given.chains(), result.converged);
  if (result.cycles > 0) out += fmt::format(", and {} ended in a cycle of two states", result.cycles);
  out += fmt::format("\nsweeps     {:.2f} a row\nenergy     {:.4f} before, {:.4f} after\n", result.sweeps,
                     result.energy_before, result.energy_after);
  if (result.overlap_before) {
    out += fmt::format("overlap    {:.4f} before, {:.4f} after\n", *result.overlap_before, *result.overlap_after);
  }
  return out;
}

Outcome run(const RecallRequest& request, bool json, const Context& context) {
  require_ending("--out", request.out, {".png", ".npy", ".csv"});
  require_distinct({{"--data", request.data.source}, {"--labels", request.data.labels}, {"--out", request.out}});
  const ModelFile file = load_model(request.model);
  const Layer spins = Spin{units_of(file.machine->visible())};
  DataOptions options = request.data;
  options.kind = kind_for(spins);
  const Dataset data = load_split(options, request.split, context);
  require_kind(spins, data);
  require_complete(data);
  require_fit(spins, data);
  const Key key{request.seed};
  const State originals = first_rows(spins, data, request.count, key);
  const UpdateOrder order = request.synchronous ? UpdateOrder::kSynchronous : UpdateOrder::kRandom;
  const RecallResult result =
      recall_rows(*file.machine, originals, request.damage, {order, request.sweeps}, key, context);
  if (!result.stopped) {
    std::vector<Matrix<float>> columns{values_of(result.given), result.values};
    if (request.damage > 0.0) columns.insert(columns.begin(), values_of(originals));
    write_columns(request, spins, std::move(columns),
                  data.shape.height > 0 ? data.shape : shape_from_notes(file.notes, data.units()),
                  unit_names_from(file.notes, data.units()));
  }
  return {json ? printed(json_of_result(request, result)) : text_of_result(result),
          result.stopped ? "stopped; nothing written\n"
                         : fmt::format("{} restored rows are in {}\n", result.given.chains(), request.out.string()),
          result.stopped};
}

}  // namespace

Command recall_command() {
  return command_of("recall", "let a Hopfield network restore damaged rows",
                    "ergodic recall memory.safetensors --data digits --damage 0.2 --out restored.png", make_spec(),
                    run);
}

}  // namespace ergodic
