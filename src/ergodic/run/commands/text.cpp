#include "ergodic/run/commands/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ergodic/report/text.hpp"

namespace ergodic {
namespace {

constexpr char kRow[] = "{:<16} {:>10} {:<2} {:<8} {:>6} {:>9} {:>9} {:>21}\n";

std::string cell(double value, int digits) { return std::isnan(value) ? "-" : fmt::format("{:.{}f}", value, digits); }

/// Correlations of a function of the visible units fall with the lag in block Gibbs sampling (docs/math.md), so that a
/// time measured on every k-th sweep is too long, by at most k - 1 sweeps. For other samplers that is not known.
std::string time_cell(double sweeps, const MixingReport& report) {
  const char* sign = report.every == 1 ? "" : report.bounded ? "<= " : "about ";
  return std::isnan(sweeps) ? "-" : fmt::format("{}{:.1f} sweeps", sign, sweeps);
}

std::string row_of(const MixingReport::Quantity& quantity, const MixingReport& report) {
  const Diagnosis& d = quantity.diagnosis;
  const std::string error = std::isnan(d.standard_error) ? "-" : fmt::format("{:.2g}", d.standard_error);
  return fmt::format(kRow, quantity.name, short_number(d.mean), "+-", error, cell(d.r_hat, 3), cell(d.ess_bulk, 0),
                     cell(d.ess_tail, 0), time_cell(d.autocorrelation_time, report));
}

std::string table_of(const MixingReport& report) {
  std::string out =
      fmt::format(kRow, "quantity", "mean", "", "error", "R-hat", "bulk ESS", "tail ESS", "autocorrelation time");
  for (const auto& quantity : report.quantities) out += row_of(quantity, report);
  const std::string how_often = report.every == 1 ? "every sweep" : fmt::format("every {} sweeps", report.every);
  return out + fmt::format("chains watched: {}; draws of each: {}, {} of the second half of the run\n", report.chains,
                           report.draws, how_often);
}

std::string side_text(const char* name, const AnnealedSide& side, std::size_t chains) {
  return fmt::format("  {:<21}{:.2f} +- {:.2f} (effective chains {:.0f} of {})\n", name, side.value,
                     side.standard_error, side.effective_chains, chains);
}

std::string bracket_of(const Estimate& found) {
  return fmt::format("{:.2f} +- {:.2f}, between {:.2f} and {:.2f}", found.value, found.standard_error, found.lower,
                     found.upper);
}

/// What annealing found, for a person.
std::string log_z_text(const AnnealedLogZ& found) {
  return fmt::format("log Z                  {}\n", bracket_of(found.log_z)) +
         side_text("forward", found.forward, found.chains) + side_text("backward", found.backward, found.chains);
}

/// One row says nothing of others.
std::string error_over_rows(const FreeEnergy& energy, int digits) {
  return energy.rows > 1 ? fmt::format("{:.{}f} over rows", energy.row_error, digits) : "unknown";
}

/// A likelihood that is not exact.
std::string annealed_text(const EvaluateResult& result, const Estimate& likelihood) {
  const Evaluation& j = result.evaluation;
  const AnnealedLogZ& found = j.annealed ? *j.annealed : j.clamped->mean;
  std::string out = fmt::format(
      "log-likelihood         {:.2f} nats a row, between {:.2f} and {:.2f} ({}, {} temperatures, {} chains{})\n",
      likelihood.value, likelihood.lower, likelihood.upper, likelihood.method, found.temperatures, found.chains,
      result.partial ? "; stopped before the end, so this is partial" : "");
  out += "  standard error       " + error_over_rows(*j.free_energy, 2);
  if (j.clamped) out += fmt::format(" ({} random rows of {})", j.clamped->rows, result.rows);
  return out + "\n" +
         (j.annealed ? log_z_text(*j.annealed)
                     : fmt::format("log Z                  {:.4f} ({})\n", j.log_z->value, j.log_z->method));
}

/// A likelihood that is known from below alone.
std::string bound_text(const EvaluateResult& result, const Estimate& bound) {
  const Evaluation& j = result.evaluation;
  std::string out = fmt::format("log-likelihood         at least {:.2f} nats a row: a bound from {} draws a row",
                                bound.value, j.bound_draws);
  if (j.annealed) {
    out += fmt::format(", between {:.2f} and {:.2f} by log Z ({}, {} temperatures, {} chains{})", bound.lower,
                       bound.upper, j.log_z->method, j.annealed->temperatures, j.annealed->chains,
                       result.partial ? "; stopped before the end, so this is partial" : "");
  }
  out += fmt::format("\n  standard error       {}, {:.2f} over draws", error_over_rows(*j.free_energy, 2),
                     j.free_energy->mean.standard_error);
  if (j.free_energy->rows < result.rows) {
    out += fmt::format(" ({} random rows of {})", j.free_energy->rows, result.rows);
  }
  return out + "\n" +
         (j.annealed ? log_z_text(*j.annealed)
                     : fmt::format("log Z                  {:.4f} ({})\n", j.log_z->value, j.log_z->method));
}

std::string free_energy_text(const FreeEnergy& energy, const std::optional<ClampedLogZ>& clamped) {
  if (!clamped) return fmt::format("free energy            {:.4f} nats a row\n", energy.mean.value);
  return fmt::format("free energy            {} (hidden units annealed at each row, {} temperatures, {} chains)\n",
                     bracket_of(energy.mean), clamped->mean.temperatures, clamped->mean.chains);
}

/// Numbers that all agree, or too few of them, have no correlation.
std::string finite_cell(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "-";
}
std::string error_cell(double value) { return std::isfinite(value) ? fmt::format("{:.2g}", value) : "-"; }

std::string agreement_row(const std::string& name, const Agreement& a) {
  return fmt::format("{:<22} {:>9} {:>9} +- {:<8} {:>8} +- {:<8} {:>8}\n", name, a.count, finite_cell(a.correlation, 4),
                     error_cell(a.correlation_error), finite_cell(a.slope, 3), error_cell(a.slope_error),
                     finite_cell(a.ceiling, 4));
}

std::string share_row(const char* name, const Mean& share) {
  return fmt::format("{:<22} {:.3f} +- {:.3f}\n", name, share.value, share.standard_error);
}

std::string energy_row(const char* name, const Mean& energy) {
  return fmt::format("{:<22} {:.4f} +- {:.2g}\n", name, energy.value, energy.standard_error);
}

std::string gap_rows(const Quality& quality) {
  if (!quality.training_energy) return "";
  const Mean gap = quality.free_energy_gap();
  return energy_row("  training rows", *quality.training_energy) +
         fmt::format("{:<22} {:.4f} +- {:.2g} (data over training rows; 0 without over-fitting)\n", "  free-energy gap",
                     gap.value, gap.standard_error);
}

/// Without data.
std::string log_z_alone(const EvaluateResult& result) {
  const Evaluation& j = result.evaluation;
  if (j.annealed) return log_z_text(*j.annealed);
  if (j.log_z) return fmt::format("log Z                  {:.6f} ({})\n", j.log_z->value, j.log_z->method);
  return fmt::format("log Z                  not known: {}\n", result.why_no_log_z);
}

}  // namespace

std::string text_of(const EvaluateResult& result) {
  if (result.rows == 0) return log_z_alone(result);
  const Evaluation& j = result.evaluation;
  std::string out = fmt::format("rows                   {}\n", result.rows);
  if (j.log_likelihood && j.bound_draws > 0) {
    out += bound_text(result, *j.log_likelihood);
  } else if (j.log_likelihood && (j.annealed || j.clamped)) {
    out += annealed_text(result, *j.log_likelihood);
  } else if (j.log_likelihood) {
    const Estimate& found = *j.log_likelihood;
    const std::string bracket =
        found.lower < found.upper ? fmt::format(", between {:.4f} and {:.4f}", found.lower, found.upper) : "";
    out += fmt::format("log-likelihood         {:.4f} nats a row{} ({}), standard error {}\n", found.value, bracket,
                       found.method, error_over_rows(*j.free_energy, 4));
    out += fmt::format("log Z                  {:.4f} ({})\n", j.log_z->value, j.log_z->method);
  } else {
    out += fmt::format("log-likelihood         not known: {}\n", result.why_no_log_z);
  }
  out += fmt::format("independent units      {:.4f} nats a row (with the means of {})\n", result.independent,
                     result.means_of_training ? "the training rows" : "these rows");
  if (j.free_energy && j.bound_draws > 0) {
    out += fmt::format("free energy            at most {:.4f} nats a row\n", j.free_energy->mean.value);
  } else if (j.free_energy) {
    out += free_energy_text(*j.free_energy, j.clamped);
  }
  if (j.pseudo_log_likelihood) {
    out += fmt::format("pseudo-log-likelihood  {:.2f} +- {:.2f} nats a row\n", *j.pseudo_log_likelihood,
                       j.pseudo_standard_error);
  }
  return out;
}

std::string text_of(const FinalLikelihood& found) {
  return fmt::format(
      "log-likelihood of {} {} rows: {}{:.2f} nats a row, between {:.2f} and {:.2f} ({}, {} temperatures), "
      "standard error over rows {:.2f}; `ergodic evaluate` gives a narrower bracket\n",
      found.rows, found.held_out ? "held-out" : "training",
      found.bound_draws > 0 ? fmt::format("a bound from {} draws a row, at least ", found.bound_draws) : "",
      found.log_likelihood.value, found.log_likelihood.lower, found.log_likelihood.upper, found.log_likelihood.method,
      found.temperatures, found.row_error);
}

std::string text_of(const MixingReport& report) {
  return report.verdict.mixing == Mixing::kNo ? "" : sentence(report) + "\n";
}

std::string details_of(const MixingReport& report) { return report.quantities.empty() ? "" : table_of(report); }

std::string text_of(const Comparison& comparison) {
  return fmt::format("{:<22} {:>9} {:>9} {:<11} {:>8} {:<11} {:>8}\n", "samples over data", "numbers", "Pearson", "",
                     "slope", "", "ceiling") +
         agreement_row("means of units", comparison.means) +
         agreement_row("two-site correlations", comparison.correlations);
}

std::string text_of(const Quality& quality) {
  return fmt::format(
             "\n{} rows of data against {} samples; nearer to their own kind (same distribution: 0.5, far: 1, copies: "
             "0)\n",
             quality.rows, quality.rows) +
         share_row("  data", quality.neighbours.data) + share_row("  samples", quality.neighbours.samples) +
         "energies\n" + energy_row("  data", quality.data_energy) + energy_row("  samples", quality.sample_energy) +
         fmt::format("{:<22} {:.3f} ({} {:.3f}, which equal distributions exceed in 1 % of cases)\n", "  distance (KS)",
                     quality.energy_gap.distance,
                     quality.energy_gap.distance > quality.energy_gap.critical ? "above" : "not above",
                     quality.energy_gap.critical) +
         gap_rows(quality) + fmt::format("\nall rows against {} samples\n", quality.samples) + text_of(quality.moments);
}

std::string swap_text(std::span<const double> swapped) {
  if (swapped.empty()) return "";
  const auto [least, most] = std::ranges::minmax(swapped);
  return fmt::format("neighbouring levels swapped {:.1f} to {:.1f} % of the times\n", 100.0 * least, 100.0 * most);
}

}  // namespace ergodic
