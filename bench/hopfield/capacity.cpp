// How much a Hopfield network remembers: recall against load, for each storage rule.
//
// Random patterns are stored, some of them damaged and recalled one unit after the other; a pattern has come back if
// its overlap with the original is at least 0.95. Prints JSON: a success rate with its standard error at each load.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/data/damage.hpp"
#include "ergodic/model/layer.hpp"
#include "ergodic/model/recall.hpp"
#include "ergodic/model/storage.hpp"

namespace {

using namespace ergodic;

constexpr std::size_t kMostRecalled = 100;  // patterns of one network
constexpr double kCameBack = 0.95;
constexpr double kDamages[] = {0.0, 0.1};

struct Curve {
  const char* name;
  StorageRule rule;
};
constexpr Curve kCurves[] = {
    {"hebb", StorageRule::kHebb}, {"storkey", StorageRule::kStorkey}, {"pseudo-inverse", StorageRule::kPseudoInverse}};

/// Close together where Hebb's rule breaks down, and up to the last load before the patterns span everything.
std::vector<double> loads(bool quick) {
  if (quick) return {0.05, 0.5};
  std::vector<double> out;
  for (int percent = 2; percent <= 24; percent += 1) out.push_back(percent / 100.0);
  for (int percent = 26; percent <= 98; percent += 2) out.push_back(percent / 100.0);
  out.push_back(0.998);
  return out;
}

Bits random_patterns(std::size_t count, std::size_t units, Key key) {
  Bits out(count, units);
  const Draw draw = key.at(Purpose::kSynthetic);
  for (std::uint32_t m = 0; m < count; ++m) {
    for (std::uint32_t i = 0; i < units; ++i) out.set(m, i, draw.below(2, m, i) == 1);
  }
  return out;
}

double overlap(const Bits& a, const Bits& b, std::size_t row) {
  std::size_t differing = 0;
  for (std::size_t i = 0; i < a.cols(); ++i) differing += a.get(row, i) != b.get(row, i) ? 1 : 0;
  return 1.0 - 2.0 * static_cast<double>(differing) / static_cast<double>(a.cols());
}

/// The share of the first patterns that come back from this damage.
double success(const Hopfield& network, const Bits& patterns, double damage, Key key, const Context& context) {
  Bits originals(std::min(kMostRecalled, patterns.rows()), patterns.cols());
  for (std::size_t m = 0; m < originals.rows(); ++m) {
    std::copy(patterns.row(m).begin(), patterns.row(m).end(), originals.row(m).begin());
  }
  const State given(damaged(originals, damage, key.at(Purpose::kDamage)), Spin::kLevels);
  const Recalled after = recall({UpdateOrder::kRandom, 100}, network, given, 0, key, context);
  double back = 0.0;
  for (std::size_t m = 0; m < originals.rows(); ++m) {
    if (overlap(originals, after.rows.bits(), m) >= kCameBack) back += 1.0;
  }
  return back / static_cast<double>(originals.rows());
}

nlohmann::ordered_json mean_with_error(const std::vector<double>& values) {
  double mean = 0.0, squares = 0.0;
  const auto count = static_cast<double>(values.size());
  for (const double v : values) mean += v / count;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return {{"value", mean}, {"standard_error", std::sqrt(squares / (count * std::max(1.0, count - 1.0)))}};
}

nlohmann::ordered_json measured(const Curve& curve, std::size_t units, std::uint64_t networks, bool quick,
                                const Context& context) {
  nlohmann::ordered_json points = nlohmann::ordered_json::array();
  for (const double load : loads(quick)) {
    const auto count = static_cast<std::size_t>(std::lround(load * static_cast<double>(units)));
    std::vector<std::vector<double>> rates(std::size(kDamages));
    for (std::uint64_t seed = 1; seed <= networks; ++seed) {
      const Bits patterns = random_patterns(count, units, Key{seed});
      const Hopfield network = *store({curve.rule, false}, State(patterns, Spin::kLevels), context);
      for (std::size_t d = 0; d < std::size(kDamages); ++d) {
        rates[d].push_back(success(network, patterns, kDamages[d], Key{seed}, context));
      }
    }
    nlohmann::ordered_json point{{"load", load}};
    for (std::size_t d = 0; d < std::size(kDamages); ++d) {
      point["success"].push_back({{"damage", kDamages[d]}, {"rate", mean_with_error(rates[d])}});
    }
    points.push_back(std::move(point));
  }
  return {{"rule", curve.name}, {"capacity", capacity_of(curve.rule, units)}, {"points", std::move(points)}};
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::string(argv[1]) == "--quick";
  const std::size_t units = quick ? 100 : 500;
  const std::uint64_t networks = quick ? 2 : 5;
  Threads threads(0);
  const Context context{&threads};
  nlohmann::ordered_json out{{"units", units}, {"networks", networks}, {"overlap", kCameBack}};
  for (const Curve& curve : kCurves) out["curves"].push_back(measured(curve, units, networks, quick, context));
  fmt::print("{}\n", out.dump(1));
}
