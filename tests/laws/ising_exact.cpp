// Prints the mean of |M| / N of Ising's model on a torus of SIDE x SIDE spins:
//   ising_exact SIDE COUPLING ...
// A side of 16 takes some ten minutes for each coupling; 10 takes a moment.
#include "ising_exact.hpp"

#include <cstdio>
#include <cstdlib>

int main(int count, char** words) {
  for (int k = 2; k < count; ++k) {
    const auto side = static_cast<unsigned>(std::atoi(words[1]));
    const double coupling = std::atof(words[k]);
    const auto exact = ergodic::test::IsingTorus(side, coupling).distribution();
    std::printf("%u x %u, K = %.9g: log Z %.8f, |m| %.9f\n", side, side, coupling, exact.log_z, exact.magnetisation());
    std::fflush(stdout);
  }
}
