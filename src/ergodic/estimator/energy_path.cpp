#include "ergodic/estimator/energy_path.hpp"

#include <cmath>

#include "ergodic/core/elementary.hpp"
#include "ergodic/model/neural.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kSizes = 4;    // of steps
constexpr double kSmaller = 0.4;     // from one size to the next
constexpr double kBestScale = 2.38;  // over the root of the dimension: best for normal units (Roberts and others 1997)

}  // namespace

Independent::Independent(const Layer& layer, const State& rows) : layer_(layer) {
  if (rows.real()) {
    for (const float deviation : bowl_of(rows.reals()).deviation) {
      deviations_.push_back(deviation);
      log_precisions_.push_back(static_cast<float>(-2.0 * portable_log(deviation)));
    }
    for (std::size_t i = 0; i < deviations_.size(); ++i) deviations_[i] = portable_exp(-0.5 * log_precisions_[i]);
  }
  const std::vector<float> fields = base_fields(layer, rows, precision());
  fields_.assign(fields.begin(), fields.end());
}

std::vector<double> Independent::energy(const State& x, const Context&) const {
  std::vector<double> out(x.chains());
  for (std::size_t r = 0; r < out.size(); ++r) {
    if (x.real()) out[r] = self_energy(x, r, precision());
    for (std::size_t i = 0; i < fields_.size(); ++i) out[r] -= fields_[i] * x.value(r, i);
  }
  return out;
}

double Independent::log_z() const { return log_sum(layer_, {fields_, precision()}); }

State Independent::draw(std::size_t count, const Draw& draw) const {
  State out = make_state(layer_, count);
  for (std::size_t r = 0; r < count; ++r) {
    ergodic::draw(layer_, {fields_, precision()}, {draw, static_cast<std::uint32_t>(r), out, r});
  }
  return out;
}

std::vector<Metropolis> metropolis_steps(const Independent& base) {
  if (!real_valued(base.units())) return {Metropolis{}};
  std::vector<Metropolis> out;
  double noise = kBestScale / std::sqrt(static_cast<double>(units_of(base.units())));
  for (std::size_t k = 0; k < kSizes; ++k, noise *= kSmaller) {
    Metropolis kernel;
    kernel.noise = noise;
    kernel.scales = base.deviations();
    out.push_back(kernel);
  }
  return out;
}

}  // namespace ergodic
