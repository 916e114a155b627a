#include "ergodic/store/model_file.hpp"

#include <fmt/format.h>

#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/store/sealed.hpp"
#include "ergodic/store/tensors.hpp"

namespace ergodic {
namespace {

/// What the file itself says, apart from the notes.
constexpr std::string_view kOwnKeys[] = {"format", "version", "model", "visible", "hidden", "written_by", "digest"};

std::string unit_type(const Tensors& tensors, const std::string& side, const std::string& where) {
  const auto found = tensors.metadata.find(side);
  if (found == tensors.metadata.end()) return std::string(Bernoulli::kName);
  if (found->second != Bernoulli::kName && found->second != Spin::kName) {
    throw DataError(fmt::format("{}: metadata: expected '{}' to be {} or {}, found '{}'", where, side, Bernoulli::kName,
                                Spin::kName, found->second));
  }
  return found->second;
}

Rbm empty_machine(const Tensors& tensors, const std::string& where) {
  const Array* weights = tensors.find("weights");
  if (!weights) throw DataError(fmt::format("{}: expected a tensor named weights, found none", where));
  if (weights->shape.size() != 2 || weights->size() == 0) {
    throw DataError(fmt::format(
        "{}: weights: expected shape [visible, hidden], both at least 1, found {} dimensions and {} elements", where,
        weights->shape.size(), weights->size()));
  }
  return Rbm(make_layer(unit_type(tensors, "visible", where), weights->shape[0]),
             make_layer(unit_type(tensors, "hidden", where), weights->shape[1]));
}

}  // namespace

void save_model(const std::filesystem::path& path, const Rbm& model, const std::map<std::string, std::string>& notes) {
  Tensors tensors;
  tensors.metadata = notes;
  put_model_kind(tensors, "rbm");
  tensors.metadata["visible"] = name_of(model.visible());
  tensors.metadata["hidden"] = name_of(model.hidden());
  put_parameters(tensors, model);
  write_sealed(path, std::move(tensors));
}

ModelFile load_model(const std::filesystem::path& path) {
  const std::string where = path.string();
  const Unsealed file = read_sealed(path);
  const std::string& kind = model_kind(file.tensors, where);
  if (kind != "rbm") {
    throw DataError(fmt::format("{}: metadata: expected the model rbm, found '{}'{}", where, kind,
                                kind == "hopfield" ? "; a Hopfield network is for `ergodic recall`" : ""));
  }
  ModelFile out{empty_machine(file.tensors, where), file.tensors.metadata, file.verified};
  take_parameters(file.tensors, out.model, where);
  for (const std::string_view key : kOwnKeys) out.notes.erase(std::string(key));
  return out;
}

}  // namespace ergodic
