#include "ergodic/model/tempered.hpp"

#include "ergodic/core/elementary.hpp"

namespace ergodic {
namespace {

void multiply(std::span<float> values, double beta) {
  for (float& value : values) value = static_cast<float>(beta * value);
}

}  // namespace

Rbm tempered(const Rbm& machine, double beta, const Context& context) {
  Rbm out = machine;
  out.update(
      [&](Parameters& parameters) {
        for (const char* slot : {"weights", "visible_bias", "hidden_bias"}) multiply(parameters[slot], beta);
        for (const std::size_t block : {Rbm::kVisible, Rbm::kHidden}) {
          if (!real_valued(machine.layer(block))) continue;
          for (float& log_precision : parameters[Rbm::precision_slot(block)]) {
            log_precision = static_cast<float>(log_precision + portable_log(beta));
          }
        }
      },
      context);
  return out;
}

Boltzmann tempered(const Boltzmann& machine, double beta, const Context& context) {
  Boltzmann out = machine;
  out.update([&](Parameters& parameters) { multiply(parameters.values(), beta); }, context);
  return out;
}

}  // namespace ergodic
