// Prints the mean of |M| / N of Ising's model on a torus, and checks it against what ising_test.cpp knows:
//   ising_exact [SIDE COUPLING ...]
// Without arguments the three values for 16 x 16 spins, which takes about an hour. `make check-long` runs that.
#include "ising_exact.hpp"

#include <cstdio>
#include <cstdlib>

namespace {

using namespace ergodic::test;

double computed(unsigned side, double coupling) {
  const double found = IsingTorus(side, coupling).distribution().magnetisation();
  std::printf("%u x %u, K = %.9g: %.9f\n", side, side, coupling, found);
  std::fflush(stdout);
  return found;
}

}  // namespace

int main(int count, char** words) {
  bool agree = true;
  if (count > 2) {
    for (int k = 2; k < count; ++k) computed(static_cast<unsigned>(std::atoi(words[1])), std::atof(words[k]));
  } else {
    for (const auto& [coupling, value] : kMagnetisation16) agree &= std::abs(computed(16, coupling) - value) < 1e-8;
  }
  return agree ? 0 : 1;
}
