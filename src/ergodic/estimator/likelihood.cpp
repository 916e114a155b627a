#include "ergodic/estimator/likelihood.hpp"

#include "ergodic/model/elimination.hpp"
#include "ergodic/model/exact.hpp"
#include "ergodic/model/proxies.hpp"
#include "ergodic/model/visible_marginal.hpp"

namespace ergodic {
namespace {

void set_likelihood(Judgement& judgement) {
  if (!judgement.free_energy || !judgement.log_z) return;
  judgement.log_likelihood = log_likelihood_of(judgement.free_energy->mean, *judgement.log_z);
}

void set_pseudo(Judgement& judgement, const std::vector<double>& values) {
  const Mean pseudo = mean_with_error(values);
  judgement.pseudo_log_likelihood = pseudo.value;
  judgement.pseudo_standard_error = pseudo.standard_error;
}

}  // namespace

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

FreeEnergy mean_free_energy(const std::vector<double>& energies) {
  const Mean mean = mean_with_error(energies);
  return {exactly(mean.value), mean.standard_error, energies.size()};
}

FreeEnergy mean_free_energy(const ClampedLogZ& found) {
  const Estimate& log_z = found.mean.log_z;
  return {{-log_z.value, -log_z.upper, -log_z.lower, log_z.standard_error, log_z.method}, found.row_error, found.rows};
}

void set_energies(Judgement& judgement, const std::optional<std::vector<double>>& energies,
                  const std::optional<Estimate>& log_z) {
  if (energies) judgement.free_energy = mean_free_energy(*energies);
  judgement.log_z = log_z;
  set_likelihood(judgement);
}

void add_clamped(Judgement& judgement, const ClampedLogZ& found) {
  judgement.clamped = found;
  judgement.free_energy = mean_free_energy(found);
  set_likelihood(judgement);
}

void add_annealed(Judgement& judgement, const AnnealedLogZ& found) {
  judgement.annealed = found;
  judgement.log_z = found.log_z;
  set_likelihood(judgement);
}

Judgement judge(const Rbm& model, const State& rows, Key key, const Context& context) {
  Judgement out;
  const auto energies = free_energies(model, rows, context);
  if (!rows.real()) set_pseudo(out, pseudo_log_likelihood(model, rows, key, 0, context));
  set_energies(out, energies, estimate_log_z(model, context));
  return out;
}

Judgement judge(const Boltzmann& model, const State& rows, const Context& context) {
  Judgement out;
  std::optional<std::vector<double>> energies;
  if (why_no_exact_free_energy(model).empty()) {
    energies = free_energies(model, rows, context);
    if (!energies) return out;
  }
  if (model.hidden() == 0) set_pseudo(out, model.pseudo_log_likelihood(rows, context));
  const bool summable = why_no_exact_log_z(model).empty() && !context.stop_requested();
  const std::optional<double> log_z = summable ? exact_log_z(model, context) : std::nullopt;
  set_energies(out, energies, log_z ? std::optional(exactly(*log_z)) : std::nullopt);
  return out;
}

}  // namespace ergodic
