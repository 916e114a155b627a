// Path: a way from a machine whose log Z is known to the one that is asked for, through machines between them, at
// positions t from 0 to 1. Annealing goes it in both directions (annealing.hpp).
//
// A path gives two things for every t: the log of the weight f_t(x) of a state, and a sweep that leaves f_t / Z_t where
// it is.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/kernels/state.hpp"
#include "ergodic/model/layer.hpp"
#include "ergodic/sampler/chains.hpp"

namespace ergodic {

class Path {
 public:
  virtual ~Path() = default;

  /// log Z_0.
  virtual double base_log_z() const = 0;
  /// Exact draws at t = 0.
  virtual Chains draw_base(std::size_t count, Key key, const Context& context) = 0;
  /// Chains of the machine asked for at these visible states, a row for each chain.
  virtual Chains start_at(const State& visible, Key key, const Context& context) = 0;
  /// One sweep at t of all chains. The number of the sweep names its random numbers, and is counted up.
  virtual void sweep(double t, Chains& chains, Key key, const Context& context) = 0;
  /// log f_to(x) - log f_from(x) of each chain.
  virtual void weigh(double from, double to, const Chains& chains, std::span<double> out, const Context& context) = 0;
  /// Both, as annealing goes on: weighs the chains, then sweeps them at `to`. What serves both need be made only once.
  virtual void advance(double from, double to, Chains& chains, Key key, std::span<double> out, const Context& context) {
    weigh(from, to, chains, out, context);
    sweep(to, chains, key, context);
  }
};

/// The fields of lone units with the means of these rows: where a path begins. Of real units, given their precisions.
std::vector<float> base_fields(const Layer& layer, const State& rows, const Precision& precision);

/// So many of the rows, from the first on again if there are fewer.
State cycled(const State& rows, std::size_t count);

}  // namespace ergodic
