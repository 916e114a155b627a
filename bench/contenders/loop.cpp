// A dense Boltzmann machine of +-1 spins by the loops that anybody would write: one chain after the other, spin after
// spin. As `dots`, the field of each spin is summed when it is needed; as `loop`, all fields are kept up to date by
// adding a row of couplings when a spin flips.

#include <cmath>
#include <cstddef>
#include <vector>

#include "clock.hpp"
#include "serve.hpp"
#include "xoshiro.hpp"

namespace {

using namespace bench;

using Couplings = ergodic::Matrix<float>;  // symmetric, zero on the diagonal

struct Chain {
  std::vector<float> spins;   // -1 or +1
  std::vector<float> fields;  // sum_j J_ij s_j
};

Chain random_chain(const Couplings& couplings, Xoshiro<std::uint32_t>& random) {
  Chain chain{std::vector<float>(couplings.rows()), std::vector<float>(couplings.rows())};
  for (float& spin : chain.spins) spin = random.next() >> 31 ? 1.0f : -1.0f;
  for (std::size_t i = 0; i < couplings.rows(); ++i) {
    for (std::size_t j = 0; j < couplings.rows(); ++j) chain.fields[j] += chain.spins[i] * couplings(i, j);
  }
  return chain;
}

constexpr bool kDots = BENCH_DOTS;

float dot(const float* a, const float* b, std::size_t count) {
  float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
  for (std::size_t k = 0; k < count; ++k) sum += a[k] * b[k];
  return sum;
}

void sweep(const Couplings& couplings, Chain& chain, Xoshiro<std::uint32_t>& random) {
  float* const fields = chain.fields.data();
  for (std::size_t i = 0; i < couplings.rows(); ++i) {
    if (kDots) fields[i] = dot(couplings.row(i).data(), chain.spins.data(), couplings.rows());
    const float up = 1.0f / (1.0f + std::exp(-2.0f * fields[i]));
    const float uniform = static_cast<float>(random.next() >> 8) * 0x1p-24f;
    const float spin = uniform < up ? 1.0f : -1.0f;
    if (kDots) chain.spins[i] = spin;
    if (kDots || spin == chain.spins[i]) continue;
    chain.spins[i] = spin;
    const float* const row = couplings.row(i).data();
    for (std::size_t j = 0; j < couplings.rows(); ++j) fields[j] += 2.0f * spin * row[j];
  }
}

/// -1/2 sum_ij s_i J_ij s_j
double energy(const Couplings& couplings, const Chain& chain) {
  double sum = 0.0;
  for (std::size_t i = 0; i < chain.spins.size(); ++i) {
    sum -= 0.5 * double{chain.spins[i]} * double{dot(couplings.row(i).data(), chain.spins.data(), couplings.rows())};
  }
  return sum;
}

Json spins(const Json& request) {
  const Couplings couplings = read_couplings(request.at("couplings"));
  const std::size_t chains = request.at("chains"), sweeps = request.at("sweeps");
  Xoshiro<std::uint32_t> random(request.at("seed"));
  Stopwatch watch;
  double total = 0.0;
  for (std::size_t c = 0; c < chains; ++c) {
    Chain chain = random_chain(couplings, random);
    watch.start();
    for (std::size_t s = 0; s < sweeps; ++s) sweep(couplings, chain, random);
    watch.stop();
    total += energy(couplings, chain);
  }
  return {{"seconds", watch.seconds()}, {"energy", total / static_cast<double>(chains * couplings.rows())}};
}

}  // namespace

int main(int argc, char** argv) {
  return serve(kDots ? "dots" : "loop", __VERSION__, threads_from(argc, argv), {{"spins", spins}});
}
