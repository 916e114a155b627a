// Boltzmann machines on graphs as machines.
#pragma once

#include "ergodic/machine/machine_of.hpp"
#include "ergodic/model/boltzmann.hpp"

namespace ergodic {

extern const MachineKind kBoltzmannKind;

class BoltzmannMachine : public MachineOf<Boltzmann> {
 public:
  using MachineOf::MachineOf;

  const MachineKind& kind() const override { return kBoltzmannKind; }
  bool same_shape(const Machine& other) const override;
  Facts facts() const override;
  void put(Tensors& tensors) const override;

  std::size_t hidden_layers() const override { return model().hidden() > 0 ? 1 : 0; }
  std::optional<State> hidden_of(const Chains& chains, std::size_t layer) const override;
  std::optional<std::vector<double>> free_energies(const State& rows, const Context& context) const override;
  std::optional<ClampedRows> clamped_rows(const State& rows, Key key) const override;
  std::optional<std::vector<double>> pseudo_log_likelihoods(const State& rows, Key key,
                                                            const Context& context) const override;
  std::optional<Matrix<double>> site_log_probabilities(const State& rows, const Context& context) const override;
  std::optional<OpenMachine> given(const State& rows, const Bits& known, std::size_t row) const override;
  double exact_bits() const override;
  std::optional<Estimate> exact_log_z(const Context& context) const override;
  std::unique_ptr<Path> path(const State& rows, const std::vector<Parameters>& stations,
                             const Context& context) const override;

  std::unique_ptr<Learner> learner(const Dataset& train, const Dataset& held_out, const TrainOptions& options, Key key,
                                   const Context& context) override;

  bool for_couplings(const std::function<void(std::size_t, std::size_t, double)>& f) const override;

 protected:
  BoltzmannMachine() = default;

 private:
  /// Whether the hidden units at a row can be summed over.
  bool sums_hidden() const;
};

}  // namespace ergodic
