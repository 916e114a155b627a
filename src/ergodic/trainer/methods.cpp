#include "ergodic/trainer/methods.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

std::vector<Method>& rows() {
  static std::vector<Method> all{kPersistentChains,      kPopulation,    kFastWeights,     kTemperedChains,
                                 kContrastiveDivergence, kExactGradient, kPseudoLikelihood};
  return all;
}

}  // namespace

std::span<const Method> methods() { return rows(); }

void add_method(const Method& method) { rows().push_back(method); }

const Method& method_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Method& method : rows()) {
    if (method.name == name) return method;
    names.push_back(method.name);
  }
  throw UsageError(fmt::format("unknown training method '{}'; there are: {}", name, fmt::join(names, ", ")));
}

}  // namespace ergodic
