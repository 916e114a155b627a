#include "ergodic/model/recall.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "ergodic/core/permutation.hpp"

namespace ergodic {
namespace {

/// One row that is being recalled: its units, their fields and its energy, kept up to date at every flip.
class Descent {
 public:
  Descent(const Hopfield& network, const State& rows, std::size_t row, std::span<double> fields)
      : network_(network),
        x_(network.units()),
        fields_(fields),
        energy_(energy_from_fields(rows, row, fields, network.bias())),
        additions_(network.units() + 1) {
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = rows.value(row, i);
  }

  double energy() const { return energy_; }
  float value(std::size_t i) const { return x_[i]; }

  /// Whether unit i surely has the sign that its field opposes. Each of the additions that made the field was wrong by
  /// at most 2^-53 of the largest sum there can be; twice that also covers the rounding of that largest sum.
  bool is_opposed(std::size_t i) const {
    const double rounding = 0x1p-52 * static_cast<double>(additions_) * network_.largest_fields()[i];
    return x_[i] * fields_[i] < -rounding;
  }

  void flip(std::size_t i) {
    energy_ += 2.0 * x_[i] * fields_[i];
    x_[i] = -x_[i];
    const double change = 2.0 * x_[i];
    const std::span<const float> couplings = network_.couplings().row(i);
    for (std::size_t j = 0; j < couplings.size(); ++j) fields_[j] += change * couplings[j];
    ++additions_;
  }

 private:
  const Hopfield& network_;
  std::vector<float> x_;
  std::span<double> fields_;
  double energy_;
  std::size_t additions_;  // in each field since the start
};

RecallPath run_in_turn(Descent& descent, std::size_t units, std::uint64_t sweeps, Key key, std::uint32_t row) {
  RecallPath path{{descent.energy()}};
  std::vector<std::uint32_t> order(units);
  for (std::uint64_t s = 0; s < sweeps && path.ending == Ending::kLimit; ++s) {
    permute(order, key.at(Purpose::kRecall, s), row);
    bool moved = false;
    for (const std::uint32_t i : order) {
      if (!descent.is_opposed(i)) continue;
      descent.flip(i);
      moved = true;
    }
    path.energies.push_back(descent.energy());
    if (!moved) path.ending = Ending::kAtRest;
  }
  return path;
}

RecallPath run_at_once(Descent& descent, std::size_t units, std::uint64_t sweeps) {
  RecallPath path{{descent.energy()}};
  std::vector<std::size_t> flipped, flipped_before;
  for (std::uint64_t s = 0; s < sweeps && path.ending == Ending::kLimit; ++s) {
    std::swap(flipped, flipped_before);
    flipped.clear();
    for (std::size_t i = 0; i < units; ++i) {
      if (descent.is_opposed(i)) flipped.push_back(i);
    }
    for (const std::size_t i : flipped) descent.flip(i);
    path.energies.push_back(descent.energy());
    if (flipped.empty()) {
      path.ending = Ending::kAtRest;
    } else if (flipped == flipped_before) {  // back in the state before the last
      path.ending = Ending::kCycle;
    }
  }
  return path;
}

}  // namespace

Recalled recall(const RecallOptions& options, const Hopfield& network, const State& rows, std::uint64_t first_row,
                Key key, const Context& context) {
  Recalled out{rows, std::vector<RecallPath>(rows.chains())};
  Matrix<double> fields = network.fields(rows, context);
  context.for_blocks(rows.chains(), 1, [&](std::size_t r, std::size_t) {
    Descent descent(network, rows, r, fields.row(r));
    const auto number = static_cast<std::uint32_t>(first_row + r);
    out.paths[r] = options.order == UpdateOrder::kSynchronous
                       ? run_at_once(descent, network.units(), options.sweeps)
                       : run_in_turn(descent, network.units(), options.sweeps, key, number);
    for (std::size_t i = 0; i < network.units(); ++i) out.rows.bits().set(r, i, descent.value(i) > 0.0f);
  });
  return out;
}

std::size_t count_stable(const Hopfield& network, const State& rows, const Context& context) {
  const Recalled after = recall({UpdateOrder::kSynchronous, 1}, network, rows, 0, Key{}, context);
  return static_cast<std::size_t>(std::count_if(after.paths.begin(), after.paths.end(),
                                                [](const RecallPath& path) { return path.ending == Ending::kAtRest; }));
}

}  // namespace ergodic
