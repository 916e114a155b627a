#include "ergodic/store/model_file.hpp"

#include <fmt/format.h>

#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/core/number_text.hpp"
#include "ergodic/store/boltzmann_file.hpp"
#include "ergodic/store/neural_file.hpp"
#include "ergodic/store/sealed.hpp"
#include "ergodic/store/tensors.hpp"

namespace ergodic {
namespace {

/// What the file itself says, apart from the notes.
constexpr std::string_view kOwnKeys[] = {"format",          "version",        "model",      "visible", "hidden",
                                         "visible_letters", "hidden_letters", "written_by", "digest"};

/// The layer of one side, as the metadata has it: {0,1} units if it says nothing.
Layer layer_from(const Tensors& tensors, const std::string& side, std::size_t units, const std::string& where) {
  const auto text = [&](const std::string& key, std::string_view otherwise) {
    const auto found = tensors.metadata.find(key);
    return found == tensors.metadata.end() ? std::string(otherwise) : found->second;
  };
  const std::string letters = text(side + "_letters", "0");
  const auto count = number_in<std::size_t>(letters);
  if (!count) {
    throw DataError(
        fmt::format("{}: metadata: expected '{}_letters' to be a number, found '{}'", where, side, letters));
  }
  try {
    return make_layer(text(side, Bernoulli::kName), units, *count);
  } catch (const UsageError& e) {
    throw DataError(fmt::format("{}: metadata: '{}': {}", where, side, e.what()));
  }
}

Rbm rbm_from(const Tensors& tensors, const std::string& where) {
  const Array* weights = tensors.find("weights");
  if (!weights) throw DataError(fmt::format("{}: expected a tensor named weights, found none", where));
  if (weights->shape.size() != 2 || weights->size() == 0) {
    throw DataError(fmt::format(
        "{}: weights: expected shape [visible, hidden], both at least 1, found {} dimensions and {} elements", where,
        weights->shape.size(), weights->size()));
  }
  const Layer visible = layer_from(tensors, "visible", weights->shape[0], where);
  const Layer hidden = layer_from(tensors, "hidden", weights->shape[1], where);
  try {
    Rbm model(visible, hidden);
    const Parameters loaded = parameters_from(tensors, model.parameters(), where);
    model.update([&](Parameters& parameters) { parameters = loaded; }, {});
    return model;
  } catch (const UsageError& e) {
    throw DataError(fmt::format("{}: {}", where, e.what()));
  }
}

Machine machine_from(const Tensors& tensors, const std::string& kind, const std::string& where) {
  if (kind == "rbm") return rbm_from(tensors, where);
  if (kind == kBoltzmannKind) return boltzmann_from(tensors, where);
  if (kind == kNeuralKind) return neural_from(tensors, where);
  throw DataError(fmt::format("{}: metadata: expected the model rbm, {} or {}, found '{}'{}", where, kBoltzmannKind,
                              kNeuralKind, kind,
                              kind == "hopfield" ? "; a Hopfield network is for `ergodic recall`" : ""));
}

}  // namespace

void save_model(const std::filesystem::path& path, const Rbm& model, const std::map<std::string, std::string>& notes) {
  Tensors tensors;
  tensors.metadata = notes;
  put_model_kind(tensors, "rbm");
  tensors.metadata["visible"] = name_of(model.visible());
  tensors.metadata["hidden"] = name_of(model.hidden());
  if (letters_of(model.visible()) > 0)
    tensors.metadata["visible_letters"] = std::to_string(letters_of(model.visible()));
  if (letters_of(model.hidden()) > 0) tensors.metadata["hidden_letters"] = std::to_string(letters_of(model.hidden()));
  put_parameters(tensors, model.parameters());
  write_sealed(path, std::move(tensors));
}

void save_model(const std::filesystem::path& path, const Boltzmann& model,
                const std::map<std::string, std::string>& notes) {
  Tensors tensors;
  tensors.metadata = notes;
  put_boltzmann(tensors, model);
  write_sealed(path, std::move(tensors));
}

void save_model(const std::filesystem::path& path, const Neural& model,
                const std::map<std::string, std::string>& notes) {
  Tensors tensors;
  tensors.metadata = notes;
  put_model_kind(tensors, kNeuralKind);
  put_neural(tensors, model);
  write_sealed(path, std::move(tensors));
}

ModelFile load_model(const std::filesystem::path& path) {
  const std::string where = path.string();
  const Unsealed file = read_sealed(path);
  const std::string& kind = model_kind(file.tensors, where);
  ModelFile out{machine_from(file.tensors, kind, where), file.tensors.metadata, file.verified};
  for (const std::string_view key : kOwnKeys) out.notes.erase(std::string(key));
  for (const std::string_view key : kBoltzmannKeys) {
    if (kind == kBoltzmannKind) out.notes.erase(std::string(key));
  }
  return out;
}

std::string_view kind_of(const Machine& machine) {
  if (std::holds_alternative<Rbm>(machine)) return "restricted Boltzmann machine";
  return std::holds_alternative<Neural>(machine) ? "neural energy" : "Boltzmann machine";
}

Layer visible_of(const Machine& machine) {
  if (const Rbm* rbm = std::get_if<Rbm>(&machine)) return rbm->visible();
  if (const Neural* neural = std::get_if<Neural>(&machine)) return neural->units();
  return std::get<Boltzmann>(machine).visible_layer();
}

const Rbm& rbm_in(const ModelFile& file, std::string_view purpose) {
  const Rbm* rbm = std::get_if<Rbm>(&file.machine);
  require(rbm != nullptr,
          fmt::format("{} needs a restricted Boltzmann machine, found a {}", purpose, kind_of(file.machine)));
  return *rbm;
}

}  // namespace ergodic
