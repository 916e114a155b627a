#include "ergodic/run/recall.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "ergodic/data/damage.hpp"
#include "ergodic/run/output.hpp"
#include "ergodic/run/pictures.hpp"
#include "ergodic/store/hopfield_file.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kRowsAtATime = 256;  // between two looks at whether to stop

struct Restored {
  Matrix<float> values;  ///< in [-1, 1]
  std::vector<RecallPath> paths;
};

Matrix<float> values_of(const State& rows) {
  Matrix<float> out(rows.chains(), rows.units());
  unpack(rows, out);
  return out;
}

Restored restore(const RecallRequest& request, const Hopfield& network, const State& given, std::size_t first,
                 const Context& context) {
  const UpdateOrder order = request.synchronous ? UpdateOrder::kSynchronous : UpdateOrder::kRandom;
  Recalled after = recall({order, request.sweeps}, network, given, first, Key{request.seed}, context);
  return {values_of(after.rows), std::move(after.paths)};
}

Restored restore(const RecallRequest& request, const ModernHopfield& network, const State& given, std::size_t,
                 const Context& context) {
  ModernRecalled after = recall(network, values_of(given), request.sweeps, context);
  return {std::move(after.rows), std::move(after.paths)};
}

/// All rows, a part of them at a time; nothing if stopped before the end.
template <class Network>
std::optional<Restored> restore_all(const RecallRequest& request, const Network& network, const State& given,
                                    const Context& context) {
  Restored out{Matrix<float>(given.chains(), given.units()), {}};
  for (std::size_t begin = 0; begin < given.chains(); begin += kRowsAtATime) {
    if (context.stop_requested()) return std::nullopt;
    const std::size_t count = std::min(kRowsAtATime, given.chains() - begin);
    Restored part = restore(request, network, given.rows(begin, count), begin, context);
    std::copy(part.values.elements().begin(), part.values.elements().end(), out.values.row(begin).begin());
    std::move(part.paths.begin(), part.paths.end(), std::back_inserter(out.paths));
    context.progress({begin + count, given.chains()});
  }
  return out;
}

/// The mean over rows and units of x_i y_i.
double mean_overlap(const Matrix<float>& x, const Matrix<float>& y) {
  double sum = 0.0;
  for (std::size_t k = 0; k < x.elements().size(); ++k) sum += double{x.elements()[k]} * y.elements()[k];
  return sum / static_cast<double>(x.elements().size());
}

/// A sheet of all columns, or the last one as an array; values in [-1, 1] become grey levels.
void write_columns(const std::filesystem::path& out, std::vector<Matrix<float>>& columns, PictureShape shape) {
  for (Matrix<float>& values : columns) {
    for (float& value : values.elements()) value = 0.5f * (value + 1.0f);
  }
  if (is_array(out)) {
    write_values(out, columns.back());
  } else {
    write_png(out, picture_of_groups(columns, shape));
  }
}

void add_means(const std::vector<RecallPath>& paths, RecallResult& result) {
  const auto rows = static_cast<double>(paths.size());
  for (const RecallPath& path : paths) {
    result.converged += path.ending == Ending::kAtRest ? 1 : 0;
    result.cycles += path.ending == Ending::kCycle ? 1 : 0;
    result.sweeps += static_cast<double>(path.sweeps()) / rows;
    result.energy_before += path.energies.front() / rows;
    result.energy_after += path.energies.back() / rows;
  }
}

}  // namespace

Spec RecallRequest::spec() {
  Spec spec;
  spec.group("").path("model", model, "a network that `ergodic train --model hopfield` wrote").positional().required();
  add_data_options(spec, data);
  add_split_option(spec, split);
  spec.group("Recall")
      .count("count", count, 1, 100000000, "how many rows, from the first")
      .number("damage", damage, 0.0, 1.0, "flip this share of the units of each row first")
      .count("sweeps", sweeps, 1, 1000000000, "sweeps at most, for rows that do not come to rest")
      .flag("synchronous", synchronous, "change all units at once instead of one after the other")
      .count("seed", seed, 0, ~std::uint64_t{0}, "names the random numbers");
  spec.group("Output")
      .path("out", out, "a picture of rows beside what becomes of them (.png), or the restored rows (.npy)")
      .required();
  return spec;
}

RecallResult recall_rows(const RecallRequest& request, const Context& context) {
  require_picture_or_array(request.out);
  const HopfieldFile file = load_hopfield(request.model);
  const Layer spins = Spin{std::visit([](const auto& network) { return network.units(); }, file.network)};
  const Dataset data = load_split_for(spins, request.data, request.split);
  const Key key{request.seed};
  const State originals = first_rows(spins, data, request.count, key);
  const State given(damaged(originals.bits(), request.damage, key.at(Purpose::kDamage)), Spin::kLevels);
  const auto restored =
      std::visit([&](const auto& network) { return restore_all(request, network, given, context); }, file.network);

  RecallResult result;
  result.out = request.out;
  result.count = given.chains();
  result.stopped = !restored;
  if (!restored) return result;
  add_means(restored->paths, result);
  std::vector<Matrix<float>> columns{values_of(given), restored->values};
  if (request.damage > 0.0) {
    columns.insert(columns.begin(), values_of(originals));
    result.overlap_before = mean_overlap(columns[0], columns[1]);
    result.overlap_after = mean_overlap(columns[0], columns[2]);
  }
  write_columns(request.out, columns, data.shape.height > 0 ? data.shape : shape_from_notes(file.notes, data.units()));
  return result;
}

std::string to_json(const RecallResult& result) {
  nlohmann::ordered_json out{{"out", result.out.string()}, {"count", result.count}, {"stopped", result.stopped}};
  if (result.stopped) return out.dump(2);
  out["converged"] = result.converged;
  out["cycles"] = result.cycles;
  out["sweeps"] = result.sweeps;
  out["energy_before"] = result.energy_before;
  out["energy_after"] = result.energy_after;
  if (result.overlap_before) out["overlap_before"] = *result.overlap_before;
  if (result.overlap_after) out["overlap_after"] = *result.overlap_after;
  return out.dump(2);
}

std::string to_text(const RecallResult& result) {
  if (result.stopped) return "";
  std::string out = fmt::format("rows       {}\nconverged  {}", result.count, result.converged);
  if (result.cycles > 0) out += fmt::format(", and {} ended in a cycle of two states", result.cycles);
  out += fmt::format("\nsweeps     {:.2f} a row\nenergy     {:.4f} before, {:.4f} after\n", result.sweeps,
                     result.energy_before, result.energy_after);
  if (result.overlap_before) {
    out += fmt::format("overlap    {:.4f} before, {:.4f} after\n", *result.overlap_before, *result.overlap_after);
  }
  return out;
}

}  // namespace ergodic
