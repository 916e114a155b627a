#include "ergodic/data/named_sets.hpp"

#include <fmt/format.h>

#include <string_view>

#include "ergodic/core/error.hpp"
#include "ergodic/core/number_text.hpp"
#include "ergodic/data/planar.hpp"
#include "ergodic/data/synthetic.hpp"

namespace ergodic {
namespace {

std::vector<NamedSet> all_sets() {
  const auto bars = [](std::size_t n, std::uint8_t) { return bars_and_stripes(n); };
  const auto shifting = [](std::size_t n, std::uint8_t) { return shifting_bars(n); };
  const auto points = [](Dataset (*make)(std::size_t, std::uint8_t)) {
    return Recipe{make, 10000, 10, 10000000, true, true};
  };
  std::vector<NamedSet> out{
      {"digits", "N procedural handwritten digits, 28x28, 10 classes, and a tenth as many for tests",
       Recipe{digit_sheet, 20000, 10, 1000000, true}},
      {"bars-and-stripes", "all N x N pictures of full rows or full columns", Recipe{bars, 4, 1, 16}},
      {"shifting-bars", "one unit of N on, at each place", Recipe{shifting, 9, 1, 65536}},
      {"eight-gaussians", "points of a plane, real numbers: eight normal distributions on a circle",
       points(eight_gaussians)},
      {"two-moons", "two half circles that reach into each other, with noise", points(two_moons)},
      {"rings", "two circles about each other, with noise", points(rings)},
  };
  for (NamedSet& set : out) set.description += fmt::format(" (N = {} by default)", set.recipe->n);
  for (const CatalogueEntry& entry : catalogue()) out.push_back({entry.name, entry.description, {}, &entry});
  return out;
}

std::size_t size_in(std::string_view digits, const NamedSet& set, const std::string& source) {
  const std::optional<std::size_t> n = number_in<std::size_t>(digits);
  if (!n || *n < set.recipe->lowest || *n > set.recipe->highest) {
    throw UsageError(fmt::format("{}: expected a number from {} to {} after '{}:', found '{}'", source,
                                 set.recipe->lowest, set.recipe->highest, set.name, digits));
  }
  return *n;
}

}  // namespace

const std::vector<NamedSet>& named_sets() {
  static const std::vector<NamedSet> all = all_sets();
  return all;
}

std::optional<ChosenSet> find_named_set(const std::string& source) {
  for (const NamedSet& set : named_sets()) {
    if (source == set.name) return ChosenSet{&set, set.recipe ? set.recipe->n : 0};
    if (set.recipe && source.starts_with(set.name + ":")) {
      return ChosenSet{&set, size_in(std::string_view(source).substr(set.name.size() + 1), set, source)};
    }
  }
  return std::nullopt;
}

}  // namespace ergodic
