// What there is to say of a machine.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "ergodic/machine/machine.hpp"

namespace ergodic {

struct Inspection {
  struct Range {
    double smallest = 0.0, largest = 0.0, root_mean_square = 0.0;
  };
  std::string kind, title;  ///< as in files, and for people
  Layer visible;
  Facts facts;                          ///< what its kind has to say
  std::size_t parameters = 0;           ///< how many numbers
  std::map<std::string, Range> ranges;  ///< for each parameter slot
};

Inspection inspect(const Machine& machine);

}  // namespace ergodic
