// Draws one block of random bits through the installed library, whose value is published with the generator.
#include <cstdio>
#include <ergodic/core/ars.hpp>
#include <ergodic/ergodic.hpp>

int main() {
  const ergodic::Words words = ergodic::ars({1, 0, 0, 0}, ergodic::ars_keys({1, 0, 0, 0}));
  std::printf("%08x %08x %08x %08x\n", words[0], words[1], words[2], words[3]);
}
