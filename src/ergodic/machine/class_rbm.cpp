// The kind `class-rbm` (Larochelle and Bengio 2008): an RBM whose visible layer has two parts, the values of a row and
// a softmax of its label, so that it models p(x, y). A row whose label is -1 has none, which is then missing as other
// values may be.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ergodic/core/error.hpp"
#include "ergodic/core/number_text.hpp"
#include "ergodic/format/bytes.hpp"
#include "ergodic/machine/labels.hpp"
#include "ergodic/machine/memory.hpp"
#include "ergodic/machine/rbm.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/model/class_posterior.hpp"
#include "ergodic/store/tensors.hpp"
#include "ergodic/trainer/class_learner.hpp"

namespace ergodic {

extern const MachineKind kClassRbmKind;

namespace {

constexpr char kUnseen[] = "unseen_classes";

struct ClassRbmOptions {
  std::uint64_t hidden = 500;
  std::optional<double> weight_scale;
};

const Spec<ClassRbmOptions>& spec() {
  static const Spec<ClassRbmOptions> made = [] {
    Spec<ClassRbmOptions> out;
    out.group("Machine")
        .add("hidden", &ClassRbmOptions::hidden,
             "hidden units; training takes about 36 bytes for each weight, by --objective hybrid 80")
        .range(1, 1000000)
        .add("weight-scale", &ClassRbmOptions::weight_scale, "standard deviation of the initial weights")
        .range(0.0, 100.0)
        .automatic("0.3 over the root of the units of the larger layer")
        .advanced();
    return out;
  }();
  return made;
}

/// The classes below so many that no row has. DataError unless there are rows of two classes.
std::vector<std::size_t> unseen_classes(const Dataset& data, std::size_t classes) {
  std::vector<bool> seen(classes);
  for (const int label : data.labels) {
    if (label >= 0) seen[static_cast<std::size_t>(label)] = true;
  }
  std::vector<std::size_t> out;
  for (std::size_t c = 0; c < classes; ++c) {
    if (!seen[c]) out.push_back(c);
  }
  if (const std::size_t found = classes - out.size(); found < 2) {
    throw DataError(fmt::format("{}: expected rows of at least two classes, found {}", data.name,
                                found == 0
                                    ? std::string("no row with a label")
                                    : fmt::format("only the label {}", std::ranges::find(seen, true) - seen.begin())));
  }
  return out;
}

class ClassRbmMachine final : public RbmMachine {
 public:
  ClassRbmMachine(Rbm model, std::vector<std::size_t> unseen)
      : RbmMachine(std::move(model)), unseen_(std::move(unseen)) {}

  const MachineKind& kind() const override { return kClassRbmKind; }
  Dataset rows_from(Dataset data) const override {
    return with_label_units(std::move(data), units_of(visible()) - classes(), classes());
  }
  Facts facts() const override {
    Facts out = RbmMachine::facts();
    out.push_back({"classes", std::uint64_t{classes()}});
    if (!unseen_.empty()) out.push_back({"unseen_classes", std::vector<std::uint64_t>(unseen_.begin(), unseen_.end())});
    return out;
  }
  void put(Tensors& tensors) const override {
    tensors.metadata["classes"] = std::to_string(classes());
    if (!unseen_.empty()) tensors.metadata[kUnseen] = fmt::format("{}", fmt::join(unseen_, ","));
    tensors.metadata["hidden"] = name_of(model().hidden());
    put_parameters(tensors, parameters());
  }

  std::optional<ClassUnits> class_units() const override { return ClassUnits{values(), classes(), unseen_}; }
  std::optional<Matrix<float>> class_probabilities(const Dataset& rows, const Context& context) const override {
    require_complete(rows);
    return ergodic::class_probabilities(model(), rows, context);
  }
  /// From the values of a row alone, the label being as likely to be any.
  std::vector<NetworkLayer> network_layers(const Dataset&, const Context&) const override {
    const MatrixView<const float> weights = model().weights();
    NetworkLayer out{Matrix<float>(values(), weights.cols()), std::vector<float>(weights.cols())};
    std::ranges::copy(weights.elements().first(out.weights.elements().size()), out.weights.data());
    for (std::size_t j = 0; j < weights.cols(); ++j) {
      double of_labels = 0.0;
      for (std::size_t c = 0; c < classes(); ++c) of_labels += weights(values() + c, j);
      out.bias[j] = static_cast<float>(model().hidden_bias()[j] + of_labels / static_cast<double>(classes()));
    }
    return {std::move(out)};
  }
  std::unique_ptr<Learner> learner(const Dataset& train, const Dataset& held_out, const TrainOptions& options, Key key,
                                   const Context& context) override {
    // Only here the objective is known, which says how much it will be.
    announce_memory({model().visible(), model().hidden(), &train, options.objective}, context);
    return std::make_unique<ClassLearner>(model(), train, held_out, options, key, context);
  }

 private:
  std::size_t classes() const { return classes_of(model().visible()); }
  std::size_t values() const { return units_of(model().visible()) - classes(); }

  std::vector<std::size_t> unseen_;
};

std::unique_ptr<Machine> make(const Settings& settings, const Dataset& data, Key key, const Context& context) {
  const ClassRbmOptions options = spec().made(settings);
  require_kind(Bernoulli{data.units()}, data);
  const std::size_t classes = label_classes(data);
  const Dataset rows = with_label_units(data, data.units(), classes);
  std::vector<std::size_t> unseen = unseen_classes(data, classes);
  const Layer visible = labelled_layer(data.units(), classes), hidden = Bernoulli{options.hidden};
  Rbm model(visible, hidden);
  initialise(model, rows, options.weight_scale.value_or(first_weight_scale({visible, hidden})), key, context);
  return std::make_unique<ClassRbmMachine>(std::move(model), std::move(unseen));
}

/// The classes that the metadata names as unseen, in ascending order.
std::vector<std::size_t> unseen_from(const Tensors& tensors, std::size_t classes, const std::string& where) {
  std::vector<std::size_t> out;
  const auto found = tensors.metadata.find(kUnseen);
  if (found == tensors.metadata.end()) return out;
  const std::string& text = found->second;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto number = number_in<std::size_t>(text.substr(begin, end - begin));
    if (!number || *number >= classes || (!out.empty() && *number <= out.back())) {
      throw DataError(fmt::format("{}: metadata: expected '{}' to be classes below {} in ascending order, found {}",
                                  where, kUnseen, classes, excerpt(text)));
    }
    out.push_back(*number);
    begin = end + 1;
  }
  return out;
}

std::unique_ptr<Machine> read(const Tensors& tensors, const std::string& where) {
  const auto [visible, hidden] = matrix_shape(tensors, "weights", where);
  const std::string& text = metadata_at(tensors, "classes", where);
  const auto classes = number_in<std::size_t>(text);
  if (!classes || *classes < 2 || *classes >= visible) {
    throw DataError(fmt::format("{}: metadata: expected 'classes' from 2 to {}, found '{}'", where, visible - 1, text));
  }
  return std::make_unique<ClassRbmMachine>(
      rbm_with_parameters(labelled_layer(visible - *classes, *classes), Bernoulli{hidden}, tensors, where),
      unseen_from(tensors, *classes, where));
}

constexpr std::string_view kMetadata[] = {"classes", "hidden", kUnseen};
constexpr const char* kTraining[] = {kLoopGroup, kGradientGroup, kClassesGroup};

}  // namespace

const MachineKind kClassRbmKind{"class-rbm",
                                "class restricted Boltzmann machine",
                                "RBM whose visible layer is a row of bits beside a softmax of its label",
                                [] { return spec().options(); },
                                kTraining,
                                kClassRbmRule,
                                true,
                                [](const Settings&) { return ValueKind::kBits; },
                                make,
                                read,
                                kMetadata,
                                6.0};

}  // namespace ergodic
