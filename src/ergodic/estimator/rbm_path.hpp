// The straight path to a restricted machine of any units, from one without couplings whose visible units have the
// fields `base` (for RBMs of {0,1} units: Salakhutdinov and Murray 2008):
//   log f_t(x) = x'(t b + (1 - t) base) - U(x) + log_sum(t (c + x W)).
// Precisions are those of the machine all the way. t is a factor inside the kernels, so no machine between is ever
// made, and the fields of a state serve for two values of t.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ergodic/core/matrix.hpp"
#include "ergodic/estimator/path.hpp"
#include "ergodic/kernels/split_weights.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

class RbmPath : public Path {
 public:
  /// Holds a reference to the machine. `base` has a field for each visible unit.
  RbmPath(const Rbm& machine, std::vector<float> base, const Context& context);

  double base_log_z() const override;
  Chains draw_base(std::size_t count, Key key, const Context& context) override;
  Chains start_at(const State& visible, Key key, const Context& context) override;
  void sweep(double t, Chains& chains, Key key, const Context& context) override;
  void weigh(double from, double to, const Chains& chains, std::span<double> out, const Context& context) override;
  void advance(double from, double to, Chains& chains, Key key, std::span<double> out, const Context& context) override;

 private:
  Affine map_at(std::size_t block, double t) const;
  void draw_layer(std::size_t block, double t, Chains& chains, const Draw& draw, const Context& context) const;
  double tilt_of(const State& visible, std::size_t row) const;

  const Rbm& machine_;
  std::optional<SplitWeights> split_;  // of two-valued visible units, or letters
  std::vector<float> base_;
  Matrix<double> fields_;     // c + x W
  std::vector<double> tilt_;  // b - base
  double low_tilt_ = 0.0;     // x'(b - base) when all units are low
};

/// The path from independent units with the means of these visible states.
std::unique_ptr<Path> path_to(const Rbm& machine, const State& rows, const Context& context);

}  // namespace ergodic
