#include "ergodic/estimator/likelihood.hpp"

#include <cmath>
#include <span>

#include "ergodic/model/exact.hpp"
#include "ergodic/model/exact_boltzmann.hpp"
#include "ergodic/model/proxies.hpp"
#include "ergodic/model/visible_marginal.hpp"

namespace ergodic {

std::vector<double> free_energies(const Rbm& model, const State& rows, const Context& context) {
  return model.free_energy(rows, context);
}

std::vector<double> free_energies(const Boltzmann& model, const State& rows, const Context& context) {
  return exact_free_energy(model, rows, context);
}

RowMean mean_of(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  double sum = 0.0;
  for (const double v : values) sum += v;
  const double mean = sum / count;
  double squares = 0.0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return {mean, values.size() > 1 ? std::sqrt(squares / (count - 1.0) / count) : 0.0};
}

std::optional<Estimate> estimate_log_z(const Rbm& model, const Context& context) {
  if (enumerated_bits(model) > most_enumerated_bits(model)) {
    if (!exactly_summable(model.visible()) || !real_valued(model.visible())) return std::nullopt;
    return exact_log_z(VisibleMarginal{model}, context);
  }
  const std::optional<double> log_z = exact_log_z(model, context);
  return log_z ? std::optional(exactly(*log_z)) : std::nullopt;
}

void add_annealed(Judgement& judgement, const AnnealedLogZ& found) {
  judgement.annealed = found;
  judgement.log_z = found.log_z;
  judgement.log_likelihood = log_likelihood_of(judgement.free_energy, found.log_z);
}

Judgement judge(const Rbm& model, const State& rows, Key key, const Context& context) {
  Judgement out;
  const RowMean energy = mean_of(free_energies(model, rows, context));
  out.free_energy = energy.value;
  out.row_error = energy.standard_error;
  if (!rows.real()) {
    const RowMean pseudo = mean_of(pseudo_log_likelihood(model, rows, key, 0, context));
    out.pseudo_log_likelihood = pseudo.value;
    out.pseudo_standard_error = pseudo.standard_error;
  }
  out.log_z = estimate_log_z(model, context);
  if (out.log_z) out.log_likelihood = log_likelihood_of(out.free_energy, *out.log_z);
  return out;
}

Judgement judge(const Boltzmann& model, const State& rows, const Context& context) {
  Judgement out;
  const RowMean energy = mean_of(free_energies(model, rows, context));
  out.free_energy = energy.value;
  out.row_error = energy.standard_error;
  if (model.hidden() == 0) {
    const RowMean pseudo = mean_of(model.pseudo_log_likelihood(rows, context));
    out.pseudo_log_likelihood = pseudo.value;
    out.pseudo_standard_error = pseudo.standard_error;
  }
  if (!enumerable(model)) return out;
  if (const std::optional<double> log_z = exact_log_z(model, context)) {
    out.log_z = exactly(*log_z);
    out.log_likelihood = exactly(-out.free_energy - *log_z);
  }
  return out;
}

}  // namespace ergodic
