// A path through stations: machines of one shape, between which the parameters are interpolated linearly. The first has
// no couplings, so that its log Z is known; the last is the one asked for. With machines between them that were met on
// the way of training, it is trajectory annealing (Béreux and others 2024).
//
// The machine between is made anew for every t. What a machine must have beside its parameters are the few functions
// below.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "ergodic/estimator/path.hpp"
#include "ergodic/model/boltzmann.hpp"
#include "ergodic/model/parameters.hpp"
#include "ergodic/model/rbm.hpp"

namespace ergodic {

/// Chains of no particular state.
Chains empty_chains(const Rbm& machine, std::size_t count);
Chains empty_chains(const Boltzmann& machine, std::size_t count);
/// Chains with these visible units; hidden ones, if the weight of a state depends on them, drawn given them.
Chains chains_at(const Rbm& machine, const State& visible, Key key, const Context& context);
Chains chains_at(const Boltzmann& machine, const State& visible, Key key, const Context& context);
/// By how much the log of what each state weighs differs between two machines of one shape: -F(x) of restricted ones,
/// else -E(x).
void weigh_change(const Rbm& from, const Rbm& to, const Chains& chains, std::span<double> out, const Context& context);
void weigh_change(const Boltzmann& from, const Boltzmann& to, const Chains& chains, std::span<double> out,
                  const Context& context);
/// A sweep which leaves these weights where they are.
void weighted_sweep(const Rbm& machine, Chains& chains, Key key, const Context& context);
void weighted_sweep(const Boltzmann& machine, Chains& chains, Key key, const Context& context);
/// log Z of a machine whose couplings are zero.
double uncoupled_log_z(const Rbm& machine);
double uncoupled_log_z(const Boltzmann& machine);
/// The parameters of a machine without couplings, whose visible units have the means of these rows.
Parameters uncoupled(const Rbm& machine, const State& rows);
Parameters uncoupled(const Boltzmann& machine, const State& rows);

template <class Machine>
class StationPath : public Path {
 public:
  /// Stations of the machine's shape, at least two, of which the first has no couplings.
  StationPath(const Machine& machine, std::vector<Parameters> stations, const Context& context)
      : stations_(std::move(stations)), between_{{0.0, machine}, {1.0, machine}} {
    assert(stations_.size() >= 2);
    for (auto& [t, made] : between_) make(made, t, context);
    base_log_z_ = uncoupled_log_z(between_[0].machine);
  }

  double base_log_z() const override { return base_log_z_; }

  /// Without couplings a sweep is an exact draw, wherever it starts.
  Chains draw_base(std::size_t count, Key key, const Context& context) override {
    Chains chains = empty_chains(at(0.0, context), count);
    weighted_sweep(at(0.0, context), chains, key, context);
    return chains;
  }
  Chains start_at(const State& visible, Key key, const Context& context) override {
    return chains_at(at(1.0, context), visible, key, context);
  }
  void sweep(double t, Chains& chains, Key key, const Context& context) override {
    weighted_sweep(at(t, context), chains, key, context);
  }
  void weigh(double from, double to, const Chains& chains, std::span<double> out, const Context& context) override {
    at(from, context);
    at(to, context);
    weigh_change(between_[1].machine, between_[0].machine, chains, out, context);
  }

 private:
  struct Between {
    double t;
    Machine machine;
  };

  /// The machine at t: one of the two last asked for, or made anew in place of the older.
  const Machine& at(double t, const Context& context) {
    if (between_[0].t != t) {
      std::swap(between_[0], between_[1]);
      if (between_[0].t != t) {
        between_[0].t = t;
        make(between_[0].machine, t, context);
      }
    }
    return between_[0].machine;
  }
  void make(Machine& machine, double t, const Context& context) const {
    const auto last = static_cast<double>(stations_.size() - 1);
    const double low = std::min(std::floor(t * last), last - 1.0), share = t * last - low;
    const std::span<const float> from = stations_[static_cast<std::size_t>(low)].values(),
                                 to = stations_[static_cast<std::size_t>(low) + 1].values();
    machine.update(
        [&](Parameters& parameters) {
          const std::span<float> values = parameters.values();
          for (std::size_t k = 0; k < values.size(); ++k) {
            values[k] = static_cast<float>((1.0 - share) * from[k] + share * to[k]);
          }
        },
        context);
  }

  std::vector<Parameters> stations_;
  Between between_[2];  // the last one asked for first
  double base_log_z_ = 0.0;
};

/// The path from independent units with the means of these visible states; hidden ones without fields.
std::unique_ptr<Path> path_to(const Boltzmann& machine, const State& rows, const Context& context);
/// The path through snapshots of training, from independent units with the means of these rows.
template <class Machine>
std::unique_ptr<Path> path_through(const Machine& machine, std::vector<Parameters> stations, const State& rows,
                                   const Context& context) {
  stations.insert(stations.begin(), uncoupled(machine, rows));
  stations.push_back(machine.parameters());
  return std::make_unique<StationPath<Machine>>(machine, std::move(stations), context);
}

}  // namespace ergodic
