#include "ergodic/store/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>

#include "ergodic/core/error.hpp"
#include "ergodic/store/sealed.hpp"
#include "ergodic/store/tensors.hpp"

namespace ergodic {
namespace {

constexpr const char* kFormat = "ergodic-checkpoint";
constexpr int kVersionOfFormat = 1;
constexpr std::string_view kSettingPrefix = "setting.";

std::uint64_t number_at(const Tensors& tensors, const std::string& key, const std::string& where) {
  const std::string& text = metadata_at(tensors, key, where);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw DataError(fmt::format("{}: metadata: expected a whole number at '{}', found '{}'", where, key, text));
  }
  return value;
}

/// The raw elements of an array of exactly this type and size.
template <class T>
std::vector<T> elements_at(const Tensors& tensors, const std::string& name, ElementType type, std::size_t size,
                           const std::string& where) {
  const Array* array = tensors.find(name);
  if (!array || array->type != type || array->size() != size) {
    throw DataError(fmt::format("{}: expected a tensor {} of {} elements of type {}, found {}", where, name, size,
                                name_of(type),
                                array ? fmt::format("{} of {}", array->size(), name_of(array->type)) : "none"));
  }
  std::vector<T> out(size);
  std::memcpy(out.data(), array->bytes.data(), array->bytes.size());
  return out;
}

std::string chain_name(std::size_t layer) { return fmt::format("chains.{}", layer); }

void put_chains(Tensors& tensors, const Chains& chains) {
  tensors.metadata["chains"] = std::to_string(chains.count());
  tensors.metadata["sweep"] = std::to_string(chains.sweep);
  for (std::size_t l = 0; l < chains.layers.size(); ++l) {
    const Bits& bits = chains.layers[l].bits();
    tensors.arrays.emplace_back(chain_name(l), array_of(bits.words(), {bits.rows(), Bits::words_for(bits.cols())}));
  }
}

Chains take_chains(const Tensors& tensors, const Rbm& model, const std::string& where) {
  Chains chains;
  const std::size_t count = number_at(tensors, "chains", where);
  if (count == 0) return chains;
  chains.sweep = number_at(tensors, "sweep", where);
  for (std::size_t l = 0; l < Rbm::kLayers; ++l) {
    const std::size_t words = count * Bits::words_for(units_of(model.layer(l)));
    const auto bits = elements_at<std::uint64_t>(tensors, chain_name(l), ElementType::kUInt64, words, where);
    chains.layers.push_back(model.make_state(l, count));
    std::copy(bits.begin(), bits.end(), chains.layers.back().bits().words().begin());
  }
  return chains;
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
      out.push_back({row.at(0).get<std::uint64_t>(), row.at(1).get<double>(),
                     row.at(2).get<std::vector<std::pair<std::string, double>>>()});
    }
    return out;
  } catch (const nlohmann::json::exception& e) {
    throw DataError(fmt::format("{}: metadata: the records cannot be read: {}", where, e.what()));
  }
}

void check_settings(const Tensors& tensors, const Settings& settings, const std::string& where) {
  Settings stored;
  for (const auto& [key, value] : tensors.metadata) {
    if (key.starts_with(kSettingPrefix)) stored[key.substr(kSettingPrefix.size())] = value;
  }
  std::string differences;
  for (const auto& [name, value] : settings) {
    const auto found = stored.find(name);
    if (found == stored.end() || found->second != value) {
      differences += fmt::format("\n  {}: the checkpoint has {}, this run {}", name,
                                 found == stored.end() ? "nothing" : found->second, value);
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

void save_checkpoint(const std::filesystem::path& path, const Rbm& model, const TrainingState& state,
                     const Settings& settings) {
  Tensors tensors;
  tensors.metadata = {{"format", kFormat},
                      {"version", std::to_string(kVersionOfFormat)},
                      {"update", std::to_string(state.update)},
                      {"records", to_text(state.records)}};
  for (const auto& [name, value] : settings) tensors.metadata[std::string(kSettingPrefix) + name] = value;
  put_parameters(tensors, model);
  tensors.arrays.emplace_back("velocity", array_of(state.velocity, {state.velocity.size()}));
  tensors.arrays.emplace_back("hidden_offset", array_of(state.hidden_offset, {state.hidden_offset.size()}));
  put_chains(tensors, state.chains);
  write_sealed(path, std::move(tensors));
}

TrainingState load_checkpoint(const std::filesystem::path& path, Rbm& model, const Settings& settings) {
  const std::string where = path.string();
  const Unsealed file = read_sealed(path);
  check_format(file.tensors, kFormat, kVersionOfFormat, where);
  check_settings(file.tensors, settings, where);
  TrainingState state;
  state.update = number_at(file.tensors, "update", where);
  state.records = records_from(metadata_at(file.tensors, "records", where), where);
  state.velocity = floats_at(file.tensors, "velocity", {model.parameters().values().size()}, where);
  state.hidden_offset =
      elements_at<double>(file.tensors, "hidden_offset", ElementType::kFloat64, units_of(model.hidden()), where);
  state.chains = take_chains(file.tensors, model, where);
  take_parameters(file.tensors, model, where);
  return state;
}

}  // namespace ergodic
