// A command made of a request, which a Spec fills in, and of a function that meets it.
#pragma once

#include <string>
#include <utility>

#include "ergodic/option/spec.hpp"
#include "ergodic/run/commands/command.hpp"

namespace ergodic {

inline constexpr std::uint64_t kMostSeed = ~std::uint64_t{0};

/// run(request, json, context) -> Outcome.
template <class Request, class Run>
Command command_of(std::string name, std::string summary, std::string example, const Spec<Request>& spec,
                   const Run& run) {
  return {std::move(name), std::move(summary), std::move(example),
          [options = spec.options()](std::string_view) { return options; },
          [spec, run](const Settings& settings, bool json, const Context& context) {
            return run(spec.made(settings), json, context);
          }};
}

/// Adds --seed.
template <class Request, class Field>
void add_seed(Spec<Request>& spec, Field field) {
  spec.add("seed", field, "random seed; the same seed gives the same bytes").range(0, static_cast<double>(kMostSeed));
}

/// Adds --scale, for pictures.
template <class Request, class Field>
void add_scale(Spec<Request>& spec, Field field) {
  spec.add("scale", field, "magnify a picture so many times").range(1, 32);
}

/// Adds the positional MODEL.
template <class Request, class Field>
void add_model_file(Spec<Request>& spec, Field field, std::string help = "a model file that `ergodic train` wrote") {
  spec.group("").add("model", field, std::move(help)).role(PathRole::kInput).positional().required();
}

}  // namespace ergodic
