// The kind `class-rbm` (Larochelle and Bengio 2008): an RBM whose visible layer has two parts, the values of a row and
// a softmax of its label, so that it models p(x, y). Rows of data need labels.
#include <fmt/format.h>

#include "ergodic/core/error.hpp"
#include "ergodic/core/number_text.hpp"
#include "ergodic/machine/labels.hpp"
#include "ergodic/machine/memory.hpp"
#include "ergodic/machine/rbm.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/store/tensors.hpp"
#include "ergodic/trainer/rbm_learner.hpp"

namespace ergodic {

extern const MachineKind kClassRbmKind;

namespace {

struct ClassRbmOptions {
  std::uint64_t hidden = 500;
  std::optional<double> weight_scale;
};

const Spec<ClassRbmOptions>& spec() {
  static const Spec<ClassRbmOptions> made = [] {
    Spec<ClassRbmOptions> out;
    out.group("Machine")
        .add("hidden", &ClassRbmOptions::hidden, "hidden units; training takes about 36 bytes for each weight")
        .range(1, 1000000)
        .add("weight-scale", &ClassRbmOptions::weight_scale, "standard deviation of the initial weights")
        .range(0.0, 100.0)
        .automatic("0.3 over the root of the units of the larger layer")
        .advanced();
    return out;
  }();
  return made;
}

class ClassRbmMachine final : public RbmMachine {
 public:
  using RbmMachine::RbmMachine;

  const MachineKind& kind() const override { return kClassRbmKind; }
  Dataset rows_from(Dataset data) const override {
    return with_label_units(std::move(data), units_of(visible()) - classes(), classes());
  }
  Facts facts() const override {
    Facts out = RbmMachine::facts();
    out.push_back({"classes", std::uint64_t{classes()}});
    return out;
  }
  void put(Tensors& tensors) const override {
    tensors.metadata["classes"] = std::to_string(classes());
    tensors.metadata["hidden"] = name_of(model().hidden());
    put_parameters(tensors, parameters());
  }

 private:
  std::size_t classes() const { return std::get<Potts>(model().visible().part(1)).letters; }
};

std::unique_ptr<Machine> make(const Settings& settings, const Dataset& data, Key key, const Context& context) {
  const ClassRbmOptions options = spec().made(settings);
  require_kind(Bernoulli{data.units()}, data);
  const std::size_t classes = label_classes(data);
  const Dataset rows = with_label_units(data, data.units(), classes);
  const Layer visible = labelled_layer(data.units(), classes), hidden = Bernoulli{options.hidden};
  announce_memory({visible, hidden, &rows}, context);
  Rbm model(visible, hidden);
  initialise(model, rows, options.weight_scale.value_or(first_weight_scale({visible, hidden})), key, context);
  return std::make_unique<ClassRbmMachine>(std::move(model));
}

std::unique_ptr<Machine> read(const Tensors& tensors, const std::string& where) {
  const auto [visible, hidden] = matrix_shape(tensors, "weights", where);
  const std::string& text = metadata_at(tensors, "classes", where);
  const auto classes = number_in<std::size_t>(text);
  if (!classes || *classes < 2 || *classes >= visible) {
    throw DataError(fmt::format("{}: metadata: expected 'classes' from 2 to {}, found '{}'", where, visible - 1, text));
  }
  return std::make_unique<ClassRbmMachine>(
      rbm_with_parameters(labelled_layer(visible - *classes, *classes), Bernoulli{hidden}, tensors, where));
}

constexpr std::string_view kMetadata[] = {"classes", "hidden"};

}  // namespace

const MachineKind kClassRbmKind{"class-rbm",
                                "class restricted Boltzmann machine",
                                "RBM whose visible layer is a row of bits beside a softmax of its label",
                                [] { return spec().options(); },
                                kRbmTraining,
                                kRbmRule,
                                true,
                                [](const Settings&) { return ValueKind::kBits; },
                                make,
                                read,
                                kMetadata,
                                true};

}  // namespace ergodic
