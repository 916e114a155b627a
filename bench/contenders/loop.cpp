// A dense Boltzmann machine of +-1 spins by the loop that anybody would write: one chain after the other, spin after
// spin, local fields kept up to date by adding a row of couplings when a spin flips.

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

void sweep(const Couplings& couplings, Chain& chain, Xoshiro<std::uint32_t>& random) {
  float* const fields = chain.fields.data();
  for (std::size_t i = 0; i < couplings.rows(); ++i) {
    const float up = 1.0f / (1.0f + std::exp(-2.0f * fields[i]));
    const float uniform = static_cast<float>(random.next() >> 8) * 0x1p-24f;
    const float spin = uniform < up ? 1.0f : -1.0f;
    if (spin == chain.spins[i]) continue;
    chain.spins[i] = spin;
    const float* const row = couplings.row(i).data();
    for (std::size_t j = 0; j < couplings.rows(); ++j) fields[j] += 2.0f * spin * row[j];
  }
}

/// -1/2 sum_ij s_i J_ij s_j
double energy(const Chain& chain) {
  double sum = 0.0;
  for (std::size_t i = 0; i < chain.spins.size(); ++i) sum -= 0.5 * double{chain.spins[i]} * double{chain.fields[i]};
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
    total += energy(chain);
  }
  return {{"seconds", watch.seconds()}, {"energy", total / static_cast<double>(chains * couplings.rows())}};
}

}  // namespace

int main(int argc, char** argv) { return serve("loop", __VERSION__, threads_from(argc, argv), {{"spins", spins}}); }
