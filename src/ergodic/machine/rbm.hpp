// Restricted Boltzmann machines as machines.
#pragma once

#include <cstdint>
#include <string>

#include "ergodic/machine/machine_of.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

extern const MachineKind kRbmKind;

class RbmMachine : public MachineOf<Rbm> {
 public:
  using MachineOf::MachineOf;

  const MachineKind& kind() const override { return kRbmKind; }
  bool same_shape(const Machine& other) const override;
  Facts facts() const override;
  void put(Tensors& tensors) const override;

  std::optional<Matrix<float>> means_of(const Chains& chains, const Context& context) const override;
  std::optional<Matrix<float>> reconstructions(const State& rows, Key key, const Context& context) const override;
  std::size_t hidden_layers() const override { return 1; }
  std::optional<State> hidden_of(const Chains& chains, std::size_t) const override {
    return chains.layers[Rbm::kHidden];
  }
  std::optional<Matrix<float>> hidden_means(const State& rows, std::size_t layer,
                                            const Context& context) const override;
  std::vector<NetworkLayer> network_layers(const Dataset& rows, const Context& context) const override;

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

  std::optional<Image> filters(PictureShape shape, std::size_t count) const override;
  std::vector<Picture> pictures(const Dataset& data, Key key, const Context& context) const override;
};

/// The groups of training options that RBMs take.
extern const char* const kRbmTraining[5];

/// An RBM with the parameters in a file's tensors; DataError that begins with `where` if they do not fit.
Rbm rbm_with_parameters(const Layer& visible, const Layer& hidden, const Tensors& tensors, const std::string& where);

}  // namespace ergodic
