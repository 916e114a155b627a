#include "ergodic/model/rbm_pseudo_likelihood.hpp"

#include <algorithm>

namespace ergodic {
namespace {

// Sets these random numbers apart from those of a reconstruction at the same step.
constexpr std::uint8_t kStream = 0;

constexpr std::size_t kSitesInAll = 4096;  // shared among the rows: few rows are looked at more closely
constexpr std::size_t kFewestSites = 4;

}  // namespace

std::vector<double> pseudo_log_likelihood(const Rbm& model, const State& rows, Key key, std::uint64_t step,
                                          const Context& context) {
  const Draw draw = key.at(Purpose::kMonitor, step, kStream);
  const std::size_t sites = sites_of(model.visible());
  const std::size_t looked_at = std::min(sites, std::max(kSitesInAll / rows.chains(), kFewestSites));
  Matrix<std::uint32_t> chosen(rows.chains(), looked_at);
  for (std::size_t r = 0; r < rows.chains(); ++r) {
    const std::size_t first = draw.below(sites, static_cast<std::uint32_t>(r), 0);
    for (std::size_t k = 0; k < looked_at; ++k) {
      chosen(r, k) = static_cast<std::uint32_t>((first + k * sites / looked_at) % sites);
    }
  }
  const Matrix<double> logs = model.site_log_probabilities(rows, chosen, context);
  std::vector<double> out(rows.chains());
  for (std::size_t r = 0; r < rows.chains(); ++r) {
    for (const double log_probability : logs.row(r)) {
      out[r] += static_cast<double>(sites) / static_cast<double>(looked_at) * log_probability;
    }
  }
  return out;
}

}  // namespace ergodic
