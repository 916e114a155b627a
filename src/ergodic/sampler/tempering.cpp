#include "ergodic/sampler/tempering.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "ergodic/core/elementary.hpp"
#include "ergodic/core/error.hpp"

namespace ergodic {

std::vector<double> geometric_ladder(std::size_t levels, double hottest) {
  require(
      levels >= 2 && hottest > 0.0 && hottest < 1.0,
      fmt::format("tempering needs two temperatures or more, from 1 down to an inverse temperature between 0 and 1; "
                  "found {} down to {}",
                  levels, hottest));
  std::vector<double> out(levels, 1.0);
  const double step = portable_log(hottest) / static_cast<double>(levels - 1);
  for (std::size_t k = 1; k < levels; ++k) out[k] = portable_exp(step * static_cast<double>(k));
  return out;
}

std::vector<double> adapted_ladder(std::span<const double> betas, std::span<const double> swapped, std::uint64_t k) {
  const double gain = 1.0 / std::sqrt(static_cast<double>(k + 1));
  const double mean = std::accumulate(swapped.begin(), swapped.end(), 0.0) / static_cast<double>(swapped.size());
  const bool to_zero = betas.back() == 0.0;  // which has no logarithm
  const auto between = [&](double cold, double hot) { return to_zero ? cold - hot : portable_log(cold / hot); };
  std::vector<double> steps(swapped.size());
  double sum = 0.0;
  for (std::size_t l = 0; l < steps.size(); ++l) {
    sum += steps[l] = between(betas[l], betas[l + 1]) * portable_exp(gain * (swapped[l] - mean));
  }
  const double scale = between(betas.front(), betas.back()) / sum;
  std::vector<double> out(betas.begin(), betas.end());  // the ends stay as they are, to the last bit
  double place = to_zero ? betas.front() : portable_log(betas.front());
  for (std::size_t l = 0; l + 1 < steps.size(); ++l) {
    place -= scale * steps[l];
    out[l + 1] = to_zero ? place : portable_exp(place);
  }
  return out;
}

std::vector<std::size_t> enough_levels(std::span<const double> swapped) {
  constexpr double kOften = 0.25;
  std::vector<std::size_t> out{0};
  double through = 1.0;  // all levels between the last that is kept and level k
  for (std::size_t k = 0; k < swapped.size(); ++k) {
    if (k > out.back() && through * swapped[k] < kOften) {
      out.push_back(k);
      through = 1.0;
    }
    through *= swapped[k];
  }
  out.push_back(swapped.size());
  return out;
}

std::vector<double> swap_neighbours(const Matrix<double>& exponents, const Draw& draw, std::size_t first,
                                    Chains& chains) {
  const std::size_t layers = chains.layers.size() / (exponents.rows() + 1), count = chains.count();
  std::vector<double> out(exponents.rows());
  for (std::size_t k = 0; k < out.size(); ++k) {
    for (std::size_t r = 0; r < count; ++r) {
      if (std::isnan(exponents(k, r)))
        throw NumericError(fmt::format("the energy of chain {} is not a number", chains.first_chain + r));
      const double p = exponents(k, r) >= 0.0 ? 1.0 : portable_exp(exponents(k, r));
      out[k] += p / static_cast<double>(count);
      const auto chain = static_cast<std::uint32_t>(chains.first_chain + r);
      if (k % 2 != first || !(draw.uniform(chain, static_cast<std::uint32_t>(k)) < p)) continue;
      for (std::size_t l = 0; l < layers; ++l) {
        chains.layers[k * layers + l].swap_rows(r, chains.layers[(k + 1) * layers + l]);
      }
    }
  }
  return out;
}

}  // namespace ergodic
