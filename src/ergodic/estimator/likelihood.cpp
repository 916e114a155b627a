#include "ergodic/estimator/likelihood.hpp"

#include <algorithm>
#include <cmath>

namespace ergodic {

FreeEnergy mean_free_energy(const std::vector<double>& energies) {
  const Mean mean = mean_with_error(energies);
  return {exactly(mean.value), mean.standard_error, energies.size()};
}

FreeEnergy mean_free_energy(const ClampedLogZ& found) {
  const Estimate& log_z = found.mean.log_z;
  return {{-log_z.value, -log_z.upper, -log_z.lower, log_z.standard_error, log_z.method}, found.row_error, found.rows};
}

FreeEnergy mean_free_energy(const std::vector<Estimate>& log_sums) {
  std::vector<double> values;
  Estimate mean{0.0, 0.0, 0.0, 0.0, "exact"};
  const auto rows = static_cast<double>(log_sums.size());
  for (const Estimate& sum : log_sums) {
    values.push_back(-sum.value);
    mean.lower -= sum.upper / rows;
    mean.upper -= sum.lower / rows;
    mean.standard_error = std::hypot(mean.standard_error, sum.standard_error / rows);
    if (sum.method != mean.method && mean.method == "exact") mean.method = sum.method;
  }
  const Mean found = mean_with_error(values);
  mean.value = found.value;
  if (mean.method == "exact") mean.lower = mean.upper = mean.value;
  // Where the brackets of rows are points, their sums round in another order.
  mean.lower = std::min(mean.lower, mean.value);
  mean.upper = std::max(mean.upper, mean.value);
  return {mean, found.standard_error, log_sums.size()};
}

void Evaluation::set_likelihood() {
  if (free_energy && log_z) log_likelihood = log_likelihood_of(free_energy->mean, *log_z);
}

void Evaluation::set_free_energies(const std::vector<double>& energies) { set_free_energy(mean_free_energy(energies)); }

void Evaluation::set_free_energy(const FreeEnergy& found) {
  free_energy = found;
  set_likelihood();
}

void Evaluation::set_clamped(const ClampedLogZ& found) {
  clamped = found;
  set_free_energy(mean_free_energy(found));
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
