#include "ergodic/machine/classifier.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/format/bytes.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/store/sealed.hpp"
#include "ergodic/store/tensors.hpp"
#include "ergodic/trainer/network_learner.hpp"

namespace ergodic {
namespace {

constexpr char kSizes[] = "sizes", kActivation[] = "activation", kClassNames[] = "class_names";
constexpr char kSigmoid[] = "sigmoid", kRelu[] = "relu";
constexpr std::string_view kOwnKeys[] = {"format", "version", "model",     "written_by",
                                         "digest", kSizes,    kActivation, kClassNames};

std::vector<std::string> names_in(const std::string& text, std::size_t classes, const std::string& where) {
  const nlohmann::json list = nlohmann::json::parse(text, nullptr, false);
  const auto is_text = [](const nlohmann::json& name) { return name.is_string(); };
  if (!list.is_array() || list.size() != classes || !std::all_of(list.begin(), list.end(), is_text)) {
    throw DataError(fmt::format("{}: metadata: expected '{}' to be a list of {} texts, found {}", where, kClassNames,
                                classes, excerpt(text)));
  }
  return list.get<std::vector<std::string>>();
}

}  // namespace

void save_classifier(const std::filesystem::path& path, const Classifier& classifier) {
  Tensors tensors;
  tensors.metadata = classifier.notes;
  put_model_kind(tensors, kClassifierKind);
  const Network& network = classifier.network;
  tensors.metadata[kSizes] = fmt::format("{}", fmt::join(network.sizes(), ","));
  tensors.metadata[kActivation] = network.activation() == Activation::kSigmoid ? kSigmoid : kRelu;
  if (!classifier.class_names.empty()) {
    tensors.metadata[kClassNames] = nlohmann::json(classifier.class_names).dump();
  }
  put_parameters(tensors, network.parameters());
  write_sealed(path, std::move(tensors));
}

Classifier load_classifier(const std::filesystem::path& path) {
  const std::string where = path.string();
  const Unsealed file = read_sealed(path);
  const Tensors& tensors = file.tensors;
  if (const std::string& kind = model_kind(tensors, where); kind != kClassifierKind) {
    throw DataError(
        fmt::format("{}: expected a classifier, found a model of the kind {}; `ergodic classify fit --from "
                    "{}` makes a classifier of it",
                    where, excerpt(kind), where));
  }
  const std::string& activation = metadata_at(tensors, kActivation, where);
  if (activation != kSigmoid && activation != kRelu) {
    throw DataError(fmt::format("{}: metadata: expected '{}' to be {} or {}, found {}", where, kActivation, kSigmoid,
                                kRelu, excerpt(activation)));
  }
  const std::vector<std::size_t> sizes = sizes_at(tensors, kSizes, where);
  if (sizes.size() < 2 || sizes.back() < 2) {
    throw DataError(
        fmt::format("{}: metadata: expected '{}' of inputs, layers and at least two classes", where, kSizes));
  }
  // The shapes are compared with the file before anything of that size is made.
  for (std::size_t k = 0; k + 1 < sizes.size(); ++k) {
    floats_at(tensors, Network::weights_slot(k), {sizes[k], sizes[k + 1]}, where);
  }
  Classifier out{Network(sizes, activation == kRelu ? Activation::kRelu : Activation::kSigmoid), {}, tensors.metadata};
  out.network.parameters() = parameters_from(tensors, out.network.parameters(), where);
  if (const auto names = tensors.metadata.find(kClassNames); names != tensors.metadata.end()) {
    out.class_names = names_in(names->second, out.network.classes(), where);
  }
  for (const std::string_view key : kOwnKeys) out.notes.erase(std::string(key));
  return out;
}

namespace {

RowClassifier of_network(Classifier file) {
  const auto network = std::make_shared<const Network>(std::move(file.network));
  return {
      network->inputs(),
      network->classes(),
      std::move(file.class_names),
      unit_names_from(file.notes, network->inputs()),
      file.notes,
      [network](const Dataset& rows, const Context& context) { return class_probabilities(*network, rows, context); }};
}

RowClassifier of_machine(ModelFile file, const std::string& where) {
  const std::shared_ptr<const Machine> machine = std::move(file.machine);
  const std::optional<ClassUnits> classes = machine->class_units();
  if (!classes) {
    const std::string advice = machine->kind().pretrains()
                                   ? fmt::format("`ergodic classify fit --from {}` makes a classifier of it", where)
                                   : "`ergodic train --model class-rbm` makes a machine with labels";
    throw DataError(fmt::format("{}: expected a classifier or a machine with labels, found a model of the kind {}; {}",
                                where, machine->kind().name, advice));
  }
  std::vector<std::string> names = unit_names_from(file.notes, classes->first + 1);
  if (!names.empty()) names.pop_back();  // the label
  return {
      classes->first,
      classes->count,
      class_names_from(file.notes),
      std::move(names),
      file.notes,
      [machine](const Dataset& rows, const Context& context) { return *machine->class_probabilities(rows, context); },
      machine};
}

}  // namespace

RowClassifier load_row_classifier(const std::filesystem::path& path) {
  const std::string where = path.string();
  const bool network = model_kind(read_sealed(path).tensors, where) == kClassifierKind;
  return network ? of_network(load_classifier(path)) : of_machine(load_model(path), where);
}

}  // namespace ergodic
