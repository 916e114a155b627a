// The kind `class-rbm` (Larochelle and Bengio 2008): an RBM whose visible layer has two parts, the values of a row and
// a softmax of its label, so that it models p(x, y). Rows of data need labels.
#include <fmt/format.h>

#include <algorithm>

#include "ergodic/core/error.hpp"
#include "ergodic/core/number_text.hpp"
#include "ergodic/machine/memory.hpp"
#include "ergodic/machine/rbm.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/store/tensors.hpp"
#include "ergodic/trainer/rbm_learner.hpp"

namespace ergodic {

extern const MachineKind kClassRbmKind;

namespace {

constexpr std::size_t kMostClasses = 1000;

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

/// Bernoulli units beside one site with a letter for each class.
Layer visible_layer_of(std::size_t values, std::size_t classes) {
  return joined({Bernoulli{values}, Potts{classes, classes}});
}

/// The rows with their labels as further units, one of which is on. DataError for labels that are missing or not from 0
/// to classes - 1.
Dataset with_labels(const Dataset& data, std::size_t classes) {
  if (data.labels.size() != data.rows()) {
    throw DataError(fmt::format("{}: expected a label for each row, found none; give them with --labels", data.name));
  }
  const std::size_t values = data.units();
  const auto label_of = [&](std::size_t r) {
    if (data.labels[r] < 0 || static_cast<std::size_t>(data.labels[r]) >= classes) {
      throw DataError(fmt::format("{}: row {}: expected a label from 0 to {}, found {}", data.name, r + 1, classes - 1,
                                  data.labels[r]));
    }
    return static_cast<std::size_t>(data.labels[r]);
  };
  Dataset out = data;
  out.shape = {};
  if (!out.unit_names.empty()) out.unit_names.emplace_back(kLabelName);
  if (data.dynamic()) {
    Matrix<Grey> grey(data.rows(), values + classes);
    for (std::size_t r = 0; r < data.rows(); ++r) {
      std::ranges::copy(data.grey().row(r), grey.row(r).begin());
      grey(r, values + label_of(r)) = kFullGrey;
    }
    out.values = std::move(grey);
  } else {
    Bits bits(data.rows(), values + classes);
    for (std::size_t r = 0; r < data.rows(); ++r) {
      for_each_set(data.bits().row(r), [&](std::size_t i) { bits.set(r, i, true); });
      bits.set(r, values + label_of(r), true);
    }
    out.values = std::move(bits);
  }
  if (data.complete()) return out;
  out.known = Bits(data.rows(), values + classes);
  for (std::size_t r = 0; r < data.rows(); ++r) {
    for_each_set(data.known.row(r), [&](std::size_t i) { out.known.set(r, i, true); });
    for (std::size_t c = 0; c < classes; ++c) out.known.set(r, values + c, true);
  }
  return out;
}

class ClassRbmMachine final : public RbmMachine {
 public:
  using RbmMachine::RbmMachine;

  const MachineKind& kind() const override { return kClassRbmKind; }
  Dataset rows_from(Dataset data) const override {
    return data.rows() == 0 || has_label_units(data) ? data : with_labels(data, classes());
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
  /// Whether the rows have the units of labels already, as `sample` writes them.
  bool has_label_units(const Dataset& data) const {
    const std::size_t units = units_of(visible()), first = units - classes();
    if (!data.labels.empty() || data.units() != units || !std::holds_alternative<Bits>(data.values)) return false;
    for (std::size_t r = 0; r < data.rows(); ++r) {
      std::size_t on = 0;
      for_each_set(data.bits().row(r), [&](std::size_t i) { on += i >= first ? 1 : 0; });
      if (on != 1) return false;
    }
    return true;
  }

  std::size_t classes() const { return std::get<Potts>(model().visible().part(1)).letters; }
};

std::unique_ptr<Machine> make(const Settings& settings, const Dataset& data, Key key, const Context& context) {
  const ClassRbmOptions options = spec().made(settings);
  require_kind(Bernoulli{data.units()}, data);
  const std::size_t classes = std::max<std::size_t>(data.classes(), 2);
  if (classes > kMostClasses) {
    throw DataError(
        fmt::format("{}: expected labels from 0 to {} at most, found {}", data.name, kMostClasses - 1, classes - 1));
  }
  const Dataset rows = with_labels(data, classes);
  const Layer visible = visible_layer_of(data.units(), classes), hidden = Bernoulli{options.hidden};
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
      rbm_with_parameters(visible_layer_of(visible - *classes, *classes), Bernoulli{hidden}, tensors, where));
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
