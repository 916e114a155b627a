// Machine: any kind of machine behind one class, with one virtual call for each sweep or batch and never for each unit.
// It is what a model file holds, and what the functions of run/ take. MachineOf (machine_of.hpp) answers everything
// from the concepts of a model; a kind of machine overrides what it does better. kinds.hpp lists the kinds.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/estimator/clamped_rows.hpp"
#include "ergodic/estimator/estimate.hpp"
#include "ergodic/estimator/mixing.hpp"
#include "ergodic/estimator/path.hpp"
#include "ergodic/format/safetensors.hpp"
#include "ergodic/machine/facts.hpp"
#include "ergodic/model/layer.hpp"
#include "ergodic/model/network.hpp"
#include "ergodic/model/parameters.hpp"
#include "ergodic/model/recall.hpp"
#include "ergodic/report/html.hpp"
#include "ergodic/sampler/sampling.hpp"
#include "ergodic/trainer/learner.hpp"
#include "ergodic/trainer/train_options.hpp"

namespace ergodic {

struct MachineKind;

/// What becomes of rows that a network recalls.
struct RecalledRows {
  Matrix<float> values;  ///< in [-1, 1]
  std::vector<RecallPath> paths;
};

/// The labels that a machine knows.
struct ClassUnits {
  std::size_t first = 0;              ///< of the visible units of the label; as many values has a row beside it
  std::size_t count = 0;              ///< classes
  std::vector<std::size_t> unseen{};  ///< classes that no row had which it learned from
};

class Machine;

/// The units that a row leaves open, given those that are known: a machine of their own, and E(known).
struct OpenMachine {
  std::unique_ptr<Machine> machine;
  double energy = 0.0;
};

class Machine {
 public:
  virtual ~Machine() = default;

  // ---- What it is ----

  virtual const MachineKind& kind() const = 0;
  /// The units that data sets.
  virtual Layer visible() const = 0;
  /// All layers, the one with the visible units first.
  virtual std::vector<Layer> layers() const = 0;
  virtual const Parameters& parameters() const = 0;
  virtual void set_parameters(const Parameters& values, const Context& context) = 0;
  /// Whether the parameters of the other machine mean the same here.
  virtual bool same_shape(const Machine& other) const = 0;
  /// What `inspect` says beside the visible units and the parameters.
  virtual Facts facts() const = 0;
  /// What making it has shown, and the same in words; nothing for a machine that is trained by updates.
  virtual Facts making_facts() const { return {}; }
  virtual std::string making_text() const { return {}; }
  /// Adds itself to the tensors of a model file, in the layout of docs/format.md. The kind is there already.
  virtual void put(Tensors& tensors) const = 0;
  /// Data as its visible units take it.
  virtual Dataset rows_from(Dataset data) const { return data; }

  // ---- Chains ----

  /// Chains that know nothing of data.
  virtual Chains start(std::size_t count, Key key, const Context& context) const = 0;
  /// Chains with these visible units, hidden ones drawn.
  virtual Chains start_at(State visible, Key key, const Context& context) const = 0;
  /// The visible units of chains.
  virtual State visible_of(const Chains& chains) const = 0;
  /// How many layers of hidden units there are. They are counted from 1, the lowest first.
  virtual std::size_t hidden_layers() const { return 0; }
  /// The units of a hidden layer of chains; nothing if there are none.
  virtual std::optional<State> hidden_of(const Chains&, std::size_t /*layer*/) const { return std::nullopt; }
  /// E of all layers of each chain.
  virtual std::vector<double> energies(const Chains& chains, const Context& context) const = 0;
  /// Which units of the first layer of the chains stay, if these visible ones do.
  virtual Bits mask_of(const Bits& visible) const = 0;
  /// Whether each chain may keep other units than the next one: a mask then has a row for each chain.
  virtual bool masks_by_chain() const = 0;
  /// The sampler that the options ask for. It refers to the machine.
  virtual std::unique_ptr<Sampling> sampling(const SamplingOptions& options, const Context& context) const = 0;
  /// Whether autocorrelation times by this sampler are known to be too long rather than too short (MixingWatch).
  virtual bool bounded_times(const SamplingOptions& options) const = 0;
  /// What is watched of chains to see whether they mix.
  virtual std::vector<WatchedNumber> watched_numbers() const = 0;
  /// The same of the chains of its learner, which may be those of a part of it.
  virtual std::vector<WatchedNumber> watched_numbers_of_learner() const { return watched_numbers(); }
  /// E[visible units | the hidden ones] of each chain, in plain values; nothing without a hidden layer.
  virtual std::optional<Matrix<float>> means_of(const Chains&, const Context&) const { return std::nullopt; }
  /// E[units of a hidden layer | the visible ones] of each row, in their own values; nothing if there is no formula.
  virtual std::optional<Matrix<float>> hidden_means(const State&, std::size_t /*layer*/, const Context&) const {
    return std::nullopt;
  }
  /// The layers of a network of sigmoids that computes the expected hidden units, in {0,1}, from visible ones in plain
  /// values, the lowest first; none if it has no such layers. Where that is an approximation, it is good for rows such
  /// as these.
  virtual std::vector<NetworkLayer> network_layers(const Dataset& /*rows*/, const Context&) const { return {}; }
  /// What the machine makes of each row, in plain values: E[x' | v] with v ~ p(v | x); nothing without a hidden layer.
  virtual std::optional<Matrix<float>> reconstructions(const State&, Key, const Context&) const { return std::nullopt; }
  /// Lets rows run to a memory, `first_row` naming their random numbers; nothing if it is not a Hopfield network.
  virtual std::optional<RecalledRows> recall(const RecallOptions&, const State&, std::size_t /*first_row*/, Key,
                                             const Context&) const {
    return std::nullopt;
  }

  // ---- Labels ----

  /// Nothing for a machine without labels.
  virtual std::optional<ClassUnits> class_units() const { return std::nullopt; }
  /// p(y | x) of rows, whose labels are not looked at: a row for each, a column for each class. Grey levels enter as
  /// numbers.
  /// Nothing for a machine without labels; throws Stopped if the observer asks to stop.
  virtual std::optional<Matrix<float>> class_probabilities(const Dataset&, const Context&) const {
    return std::nullopt;
  }

  // ---- Likelihood ----

  /// -log p(x) - log Z of each row, hidden units summed out; nothing if stopped, or if there are too many to sum over.
  virtual std::optional<std::vector<double>> free_energies(const State& rows, const Context& context) const = 0;
  /// The hidden units at these rows, to be annealed, if there are too many to sum over; refers to the machine.
  virtual std::optional<ClampedRows> clamped_rows(const State&, Key) const { return std::nullopt; }
  /// Lower bounds of -F(x) of each row from so many draws of its hidden units, where these are too many to sum over;
  /// `first_row` names the random numbers. Nothing if stopped, or if there are none.
  virtual std::optional<std::vector<Estimate>> log_sum_bounds(const State&, std::size_t /*draws*/,
                                                              std::size_t /*first_row*/, Key, const Context&) const {
    return std::nullopt;
  }
  /// The sum over sites of log p(x_i | all others) of each row; nothing if it has none.
  virtual std::optional<std::vector<double>> pseudo_log_likelihoods(const State&, Key, const Context&) const {
    return std::nullopt;
  }
  /// log p(x_s | all other sites) of each site of each row; nothing if there is no formula.
  virtual std::optional<Matrix<double>> site_log_probabilities(const State&, const Context&) const {
    return std::nullopt;
  }
  /// The machine of what one of these rows leaves open: its visible units without a bit in `known`, at least one, and
  /// hidden ones. Nothing if it is not a machine that we know.
  virtual std::optional<OpenMachine> given(const State& /*rows*/, const Bits& /*known*/, std::size_t /*row*/) const {
    return std::nullopt;
  }
  /// The logarithm to base 2 of the number of terms of exact_log_z; infinite if there is no such sum.
  virtual double exact_bits() const = 0;
  /// log Z, exact or by quadrature; nothing if that takes too long, or if stopped.
  virtual std::optional<Estimate> exact_log_z(const Context& context) const = 0;
  /// The path of annealing from independent units with the means of these rows; through the parameters that the machine
  /// had while it was trained, if there are any. Refers to the machine.
  virtual std::unique_ptr<Path> path(const State& rows, const std::vector<Parameters>& stations,
                                     const Context& context) const = 0;
  /// UsageError if snapshots of training cannot serve as stations of a path or levels of tempering.
  virtual void require_stations() const {}

  // ---- Training ----

  /// The learner for options that are settled; null for a machine that is complete when it is made. It refers to the
  /// machine and to the data.
  virtual std::unique_ptr<Learner> learner(const Dataset& train, const Dataset& held_out, const TrainOptions& options,
                                           Key key, const Context& context) = 0;

  /// Calls f(i, j, w) for the couplings between units i and j, each once: of an RBM, visible and hidden unit. Returns
  /// false, without a call, for a machine that has none.
  virtual bool for_couplings(const std::function<void(std::size_t, std::size_t, double)>&) const { return false; }

  // ---- Pictures ----

  /// Visible values, as plain values, in one picture.
  virtual Image picture(const Matrix<float>& values, PictureShape shape, const Context& context) const = 0;
  /// The weights of the strongest hidden units, at most so many; nothing if it has no filters.
  virtual std::optional<Image> filters(PictureShape, std::size_t) const { return std::nullopt; }
  /// What a report shows.
  virtual std::vector<Picture> pictures(const Dataset& data, Key key, const Context& context) const = 0;
};

}  // namespace ergodic
