#include "ergodic/store/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "ergodic/core/error.hpp"
#include "ergodic/core/number_text.hpp"
#include "ergodic/format/bytes.hpp"
#include "ergodic/store/sealed.hpp"
#include "ergodic/store/tensors.hpp"

namespace ergodic {
namespace {

constexpr const char* kFormat = "ergodic-checkpoint";
constexpr int kVersionOfFormat = 3;  // the random numbers and the step are part of it: an older run cannot go on
constexpr std::string_view kSettingPrefix = "setting.";
const std::string kGoodPrefix = "good.";  // of the state that a run goes back to if it diverges

std::uint64_t number_at(const Tensors& tensors, const std::string& key, const std::string& where) {
  const std::string& text = metadata_at(tensors, key, where);
  const auto value = number_in<std::uint64_t>(text);
  if (!value)
    throw DataError(fmt::format("{}: metadata: expected a whole number at '{}', found {}", where, key, excerpt(text)));
  return *value;
}

/// The raw elements of an array of exactly this type and shape.
template <class T>
std::vector<T> elements_at(const Tensors& tensors, const std::string& name, ElementType type,
                           const std::vector<std::size_t>& shape, const std::string& where) {
  const Array* array = tensors.find(name);
  if (!array || array->type != type || array->shape != shape) {
    throw DataError(
        fmt::format("{}: expected a tensor {} of type {} and shape [{}], found {}", where, name, name_of(type),
                    fmt::join(shape, ", "),
                    array ? fmt::format("{} and [{}]", name_of(array->type), fmt::join(array->shape, ", ")) : "none"));
  }
  std::vector<T> out(array->size());
  if (!out.empty()) std::memcpy(out.data(), array->bytes.data(), array->bytes.size());
  return out;
}

std::vector<double> finite_at(const Tensors& tensors, const std::string& name, std::size_t size,
                              const std::string& where) {
  std::vector<double> out = elements_at<double>(tensors, name, ElementType::kFloat64, {size}, where);
  for (const double value : out) {
    if (!std::isfinite(value))
      throw DataError(fmt::format("{}: {}: found {}, expected finite numbers", where, name, value));
  }
  return out;
}

std::string chain_name(std::size_t layer) { return fmt::format("chains.{}", layer); }

Array packed(const State& state) {
  if (state.real()) return array_of(state.reals().elements(), {state.chains(), state.units()});
  return array_of(state.bits().words(), {state.chains(), Bits::words_for(state.units())});
}

/// The names of all that follows begin with the prefix.
void put_chains(Tensors& tensors, const std::string& prefix, const Chains& chains) {
  tensors.metadata[prefix + "chains"] = std::to_string(chains.count());
  tensors.metadata[prefix + "sweep"] = std::to_string(chains.sweep);
  tensors.metadata[prefix + "first_chain"] = std::to_string(chains.first_chain);
  for (std::size_t l = 0; l < chains.layers.size(); ++l) {
    tensors.arrays.emplace_back(prefix + chain_name(l), packed(chains.layers[l]));
  }
}

void put_floats(Tensors& tensors, const std::string& name, const std::vector<float>& values) {
  tensors.arrays.emplace_back(name, array_of(values, {values.size()}));
}

void put_learner(Tensors& tensors, const std::string& prefix, const LearnerState& learner) {
  put_floats(tensors, prefix + "velocity", learner.velocity);
  tensors.arrays.emplace_back(prefix + "offsets", array_of(learner.offsets, {learner.offsets.size()}));
  put_chains(tensors, prefix, learner.chains);
  if (learner.completed.chains() > 0) tensors.arrays.emplace_back(prefix + "completed", packed(learner.completed));
  if (!learner.best.empty()) put_floats(tensors, prefix + "best", learner.best);
  if (!learner.layers.empty()) put_floats(tensors, prefix + "layers", learner.layers);
  if (!learner.phase.empty()) put_floats(tensors, prefix + "phase", learner.phase);
  if (!learner.average.empty()) put_floats(tensors, prefix + "average", learner.average);
}

/// A state of the same layer and the same number of chains as this one.
State state_at(const Tensors& tensors, const std::string& name, const State& like, const std::string& where) {
  State out = like;
  const std::size_t units = like.units(), row_words = Bits::words_for(units);
  if (like.real()) {
    const std::vector<float> values = floats_at(tensors, name, {like.chains(), units}, where);
    std::copy(values.begin(), values.end(), out.reals().elements().begin());
    return out;
  }
  const auto words = elements_at<std::uint64_t>(tensors, name, ElementType::kUInt64, {like.chains(), row_words}, where);
  const std::size_t used = units % Bits::kWordBits;
  for (std::size_t w = row_words - 1; used != 0 && w < words.size(); w += row_words) {
    if (words[w] >> used)
      throw DataError(fmt::format("{}: {}: bits set beyond the last of {} units", where, name, units));
  }
  std::copy(words.begin(), words.end(), out.bits().words().begin());
  return out;
}

Chains take_chains(const Tensors& tensors, const std::string& prefix, const Chains& like, const std::string& where) {
  Chains chains;
  const std::size_t count = number_at(tensors, prefix + "chains", where);
  if (count != like.count())
    throw DataError(fmt::format("{}: metadata: expected {} chains, found {}", where, like.count(), count));
  chains.sweep = number_at(tensors, prefix + "sweep", where);
  chains.first_chain = number_at(tensors, prefix + "first_chain", where);
  for (std::size_t l = 0; l < like.layers.size(); ++l) {
    chains.layers.push_back(state_at(tensors, prefix + chain_name(l), like.layers[l], where));
  }
  return chains;
}

LearnerState take_learner(const Tensors& tensors, const std::string& prefix, const LearnerState& like,
                          const std::string& where) {
  LearnerState out;
  out.velocity = floats_at(tensors, prefix + "velocity", {like.velocity.size()}, where);
  out.offsets = finite_at(tensors, prefix + "offsets", like.offsets.size(), where);
  out.chains = take_chains(tensors, prefix, like.chains, where);
  if (like.completed.chains() > 0) out.completed = state_at(tensors, prefix + "completed", like.completed, where);
  if (!like.best.empty()) out.best = floats_at(tensors, prefix + "best", {like.best.size()}, where);
  if (!like.layers.empty()) out.layers = floats_at(tensors, prefix + "layers", {like.layers.size()}, where);
  // Layers that learn one after the other have more or less of it; its learner compares.
  if (const Array* phase = tensors.find(prefix + "phase")) {
    out.phase = floats_at(tensors, prefix + "phase", {phase->size()}, where);
  }
  if (!like.average.empty()) out.average = floats_at(tensors, prefix + "average", {like.average.size()}, where);
  return out;
}

std::string to_text(const std::vector<Record>& records) {
  nlohmann::json all = nlohmann::json::array();
  for (const Record& r : records) all.push_back({r.update, r.epoch, r.values});
  return all.dump();
}

std::vector<Record> records_from(const std::string& text, const std::string& where) {
  try {
    std::vector<Record> out;
    for (const auto& row : nlohmann::json::parse(text)) {
      Record record{row.at(0).get<std::uint64_t>(), row.at(1).get<double>(), {}};
      for (const auto& value : row.at(2)) {
        const double number = value.at(1).is_null() ? std::nan("") : value.at(1).get<double>();  // JSON has no NaN
        record.values.emplace_back(value.at(0).get<std::string>(), number);
      }
      out.push_back(std::move(record));
    }
    return out;
  } catch (const nlohmann::json::exception& e) {
    throw DataError(fmt::format("{}: metadata: the records cannot be read: {}", where, e.what()));
  }
}

void put_rescues(Tensors& tensors, const TrainingState& state) {
  if (!state.good) return;
  nlohmann::json all = nlohmann::json::array();
  for (const Rescue& r : state.rescues) all.push_back({r.diverged_after, r.back_to});
  tensors.metadata["rescues"] = all.dump();
  tensors.metadata[kGoodPrefix + "update"] = std::to_string(state.good->update);
  put_floats(tensors, kGoodPrefix + "parameters", state.good->parameters);
  put_learner(tensors, kGoodPrefix, state.good->learner);
}

void take_rescues(const Tensors& tensors, std::size_t parameters, const ShapeAt& shape_at, const std::string& where,
                  TrainingState& state) {
  try {
    for (const auto& row : nlohmann::json::parse(metadata_at(tensors, "rescues", where))) {
      state.rescues.push_back({row.at(0).get<std::uint64_t>(), row.at(1).get<std::uint64_t>()});
    }
  } catch (const nlohmann::json::exception& e) {
    throw DataError(fmt::format("{}: metadata: the rescues cannot be read: {}", where, e.what()));
  }
  const std::uint64_t update = number_at(tensors, kGoodPrefix + "update", where);
  state.good = {update, floats_at(tensors, kGoodPrefix + "parameters", {parameters}, where),
                take_learner(tensors, kGoodPrefix, shape_at(update).learner, where)};
}

SettingTexts settings_of(const Tensors& tensors) {
  SettingTexts out;
  for (const auto& [key, value] : tensors.metadata) {
    if (key.starts_with(kSettingPrefix)) out[key.substr(kSettingPrefix.size())] = value;
  }
  return out;
}

void check_settings(const Tensors& tensors, const SettingTexts& settings, const std::string& where) {
  std::map<std::string, std::pair<std::string, std::string>> both;  // by name: the checkpoint's value, and ours
  for (const auto& [name, value] : settings_of(tensors)) both[name] = {value, "nothing"};
  for (const auto& [name, value] : settings) {
    both.try_emplace(name, "nothing", "").first->second.second = value;
  }
  std::string differences;
  for (const auto& [name, values] : both) {
    if (values.first != values.second) {
      differences += fmt::format("\n  {}: the checkpoint has {}, this run {}", name, values.first, values.second);
    }
  }
  if (!differences.empty()) {
    throw UsageError(
        fmt::format("{}: the checkpoint is of a run with other options:{}\nresume with the same options, or "
                    "start anew without --resume after removing the checkpoint",
                    where, differences));
  }
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const Parameters& parameters, const TrainingState& state,
                     const SettingTexts& settings) {
  Tensors tensors;
  tensors.metadata = {{"format", kFormat},
                      {"version", std::to_string(kVersionOfFormat)},
                      {"update", std::to_string(state.update)},
                      {"records", to_text(state.records)}};
  for (const auto& [name, value] : settings) tensors.metadata[std::string(kSettingPrefix) + name] = value;
  put_parameters(tensors, parameters);
  put_learner(tensors, "", state.learner);
  put_rescues(tensors, state);
  write_sealed(path, std::move(tensors));
}

TrainingOutline outline_of_checkpoint(const std::filesystem::path& path) {
  const std::string where = path.string();
  const Unsealed file = read_sealed(path);
  check_format(file.tensors, kFormat, {kVersionOfFormat, kVersionOfFormat}, where);
  return {settings_of(file.tensors), number_at(file.tensors, "update", where),
          records_from(metadata_at(file.tensors, "records", where), where)};
}

Checkpoint load_checkpoint(const std::filesystem::path& path, const Parameters& parameters, const ShapeAt& shape_at,
                           const SettingTexts& settings) {
  const std::string where = path.string();
  const Unsealed file = read_sealed(path);
  check_format(file.tensors, kFormat, {kVersionOfFormat, kVersionOfFormat}, where);
  check_settings(file.tensors, settings, where);
  TrainingState state;
  state.update = number_at(file.tensors, "update", where);
  const TrainingState like = shape_at(state.update);
  state.records = records_from(metadata_at(file.tensors, "records", where), where);
  state.learner = take_learner(file.tensors, "", like.learner, where);
  if (like.good) take_rescues(file.tensors, like.good->parameters.size(), shape_at, where, state);
  return {parameters_from(file.tensors, parameters, where), std::move(state)};
}

}  // namespace ergodic
