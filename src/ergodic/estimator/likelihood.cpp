#include "ergodic/estimator/likelihood.hpp"

namespace ergodic {

FreeEnergy mean_free_energy(const std::vector<double>& energies) {
  const Mean mean = mean_with_error(energies);
  return {exactly(mean.value), mean.standard_error, energies.size()};
}

FreeEnergy mean_free_energy(const ClampedLogZ& found) {
  const Estimate& log_z = found.mean.log_z;
  return {{-log_z.value, -log_z.upper, -log_z.lower, log_z.standard_error, log_z.method}, found.row_error, found.rows};
}

void Evaluation::set_likelihood() {
  if (free_energy && log_z) log_likelihood = log_likelihood_of(free_energy->mean, *log_z);
}

void Evaluation::set_free_energies(const std::vector<double>& energies) {
  free_energy = mean_free_energy(energies);
  set_likelihood();
}

void Evaluation::set_clamped(const ClampedLogZ& found) {
  clamped = found;
  free_energy = mean_free_energy(found);
  set_likelihood();
}

void Evaluation::set_pseudo_log_likelihoods(const std::vector<double>& values) {
  const Mean pseudo = mean_with_error(values);
  pseudo_log_likelihood = pseudo.value;
  pseudo_standard_error = pseudo.standard_error;
}

void Evaluation::set_log_z(const Estimate& found) {
  log_z = found;
  set_likelihood();
}

void Evaluation::set_annealed(const AnnealedLogZ& found) {
  annealed = found;
  set_log_z(found.log_z);
}

}  // namespace ergodic
