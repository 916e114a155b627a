#include "ergodic/model/proxies.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ergodic/core/elementary.hpp"

namespace ergodic {
namespace {

// Keep apart the random numbers of one step.
constexpr std::uint8_t kFlipStream = 0, kUpStream = 1, kDownStream = 2;

constexpr std::size_t kSitesInAll = 4096;  // shared among the rows: few rows are looked at more closely
constexpr std::size_t kFewestSites = 4;

}  // namespace

std::vector<double> pseudo_log_likelihood(const Rbm& model, const State& rows, Key key, std::uint64_t step,
                                          const Context& context) {
  const Draw draw = key.at(Purpose::kMonitor, step, kFlipStream);
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

State reconstruct(const Rbm& model, const State& rows, Key key, std::uint64_t step, const Context& context) {
  State layers[] = {rows, model.make_state(Rbm::kHidden, rows.chains())};
  model.resample(Rbm::kHidden, layers, key.at(Purpose::kMonitor, step, kUpStream), 0, context);
  model.resample(Rbm::kVisible, layers, key.at(Purpose::kMonitor, step, kDownStream), 0, context);
  return std::move(layers[Rbm::kVisible]);
}

double reconstruction_error(const Rbm& model, const State& rows, Key key, std::uint64_t step, const Context& context) {
  const State back = reconstruct(model, rows, key, step, context);
  const double sites = static_cast<double>(rows.chains()) * static_cast<double>(sites_of(model.visible()));
  if (rows.real()) {
    double squares = 0.0;
    for (std::size_t k = 0; k < rows.reals().elements().size(); ++k) {
      const double difference = double{rows.reals().elements()[k]} - back.reals().elements()[k];
      squares += difference * difference;
    }
    return std::sqrt(squares / sites);
  }
  return static_cast<double>(differing_sites(model.visible(), rows, back)) / sites;
}

}  // namespace ergodic
