#include "ergodic/estimator/likelihood.hpp"

#include <limits>

#include "ergodic/model/elimination.hpp"
#include "ergodic/model/exact.hpp"
#include "ergodic/model/proxies.hpp"
#include "ergodic/model/visible_marginal.hpp"

namespace ergodic {

std::optional<std::vector<double>> free_energies(const Rbm& model, const State& rows, const Context& context) {
  return model.free_energy(rows, context);
}

std::optional<std::vector<double>> free_energies(const Boltzmann& model, const State& rows, const Context& context) {
  return exact_free_energy(model, rows, context);
}

std::optional<Estimate> estimate_log_z(const Rbm& model, const Context& context) {
  if (enumerated_bits(model) > most_enumerated_bits(model)) {
    if (!exactly_summable(model.visible()) || !real_valued(model.visible())) return std::nullopt;
    return exact_log_z(VisibleMarginal{model}, context);
  }
  const std::optional<double> log_z = exact_log_z(model, context);
  return log_z ? std::optional(exactly(*log_z)) : std::nullopt;
}

bool set_free_energy(Judgement& judgement, const std::optional<std::vector<double>>& energies) {
  const Mean mean = energies ? mean_with_error(*energies) : Mean{std::numeric_limits<double>::quiet_NaN(), 0.0};
  judgement.free_energy = mean.value;
  judgement.row_error = mean.standard_error;
  return energies.has_value();
}

void add_annealed(Judgement& judgement, const AnnealedLogZ& found) {
  judgement.annealed = found;
  judgement.log_z = found.log_z;
  judgement.log_likelihood = log_likelihood_of(judgement.free_energy, found.log_z);
}

Judgement judge(const Rbm& model, const State& rows, Key key, const Context& context) {
  Judgement out;
  set_free_energy(out, free_energies(model, rows, context));
  if (!rows.real()) {
    const Mean pseudo = mean_with_error(pseudo_log_likelihood(model, rows, key, 0, context));
    out.pseudo_log_likelihood = pseudo.value;
    out.pseudo_standard_error = pseudo.standard_error;
  }
  out.log_z = estimate_log_z(model, context);
  if (out.log_z) out.log_likelihood = log_likelihood_of(out.free_energy, *out.log_z);
  return out;
}

Judgement judge(const Boltzmann& model, const State& rows, const Context& context) {
  Judgement out;
  if (!set_free_energy(out, free_energies(model, rows, context))) return out;
  if (model.hidden() == 0) {
    const Mean pseudo = mean_with_error(model.pseudo_log_likelihood(rows, context));
    out.pseudo_log_likelihood = pseudo.value;
    out.pseudo_standard_error = pseudo.standard_error;
  }
  if (!why_no_exact_log_z(model).empty()) return out;
  if (const std::optional<double> log_z = exact_log_z(model, context)) {
    out.log_z = exactly(*log_z);
    out.log_likelihood = exactly(-out.free_energy - *log_z);
  }
  return out;
}

}  // namespace ergodic
