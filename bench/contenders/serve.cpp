#include "serve.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "ergodic/core/profile.hpp"
#include "ergodic/data/source.hpp"
#include "ergodic/format/npy.hpp"

namespace bench {
namespace {

Json answer(const Json& request, const std::map<std::string, Work>& kinds) try {
  const double hertz = ergodic::cycles_per_second();
  Json out = kinds.at(request.at("kind"))(request);
  out["hertz"] = hertz;
  return out;
} catch (const std::exception& error) {
  return {{"error", error.what()}};
}

}  // namespace

int serve(const std::string& contender, const std::string& version, std::size_t threads,
          const std::map<std::string, Work>& kinds) {
  Json hello{{"contender", contender}, {"version", version}, {"threads", threads}, {"kinds", Json::array()}};
  for (const auto& [kind, work] : kinds) hello["kinds"].push_back(kind);
  std::cout << hello << std::endl;
  for (std::string line; std::getline(std::cin, line);) std::cout << answer(Json::parse(line), kinds) << std::endl;
  return EXIT_SUCCESS;
}

std::size_t threads_from(int argc, char** argv) {
  if (argc != 2) throw std::runtime_error("usage: PROGRAM THREADS, with requests on the standard input");
  return std::stoul(argv[1]);
}

ergodic::Dataset first_rows(const std::string& path, std::size_t count) {
  static std::string kept_path;
  static ergodic::Dataset kept;
  if (path != kept_path) {
    ergodic::DataOptions options;
    options.source = path;
    kept = ergodic::load_data(options).train;
    kept_path = path;
  }
  if (count > kept.rows()) throw std::runtime_error(path + " has fewer rows than were asked for");
  std::vector<std::uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0u);
  return ergodic::select(kept, rows);
}

std::vector<float> read_floats(const std::string& path) {
  const ergodic::Array array = ergodic::read_npy(path);
  std::vector<float> out(array.size());
  std::memcpy(out.data(), array.bytes.data(), array.bytes.size());
  return out;
}

ergodic::Matrix<float> read_couplings(const std::string& path) {
  const ergodic::Array array = ergodic::read_npy(path);
  ergodic::Matrix<float> out(array.shape.at(0), array.shape.at(1));
  std::memcpy(out.data(), array.bytes.data(), array.bytes.size());
  return out;
}

ProductFactors::ProductFactors(const Json& request)
    : left(request.at("left")),
      inner(request.at("inner")),
      right(request.at("right")),
      times(request.at("times")),
      a_turned(request.at("turned") == "a"),
      b_turned(request.at("turned") == "b"),
      a(a_turned ? inner : left, a_turned ? left : inner),
      b(b_turned ? right : inner, b_turned ? inner : right) {
  std::uint32_t state = 1;
  const auto fill = [&](ergodic::Matrix<float>& m) {
    for (float& element : m.elements()) {
      state = state * 1664525u + 1013904223u;
      element = static_cast<float>(state >> 8) * 0x1p-24f - 0.5f;
    }
  };
  fill(a);
  fill(b);
}

double ProductFactors::sum(const ergodic::Matrix<float>& out) const {
  double total = 0.0;
  for (const float element : out.elements()) total += element;
  return total / static_cast<double>(times);
}

std::string snapshot_path(const Json& request, std::size_t update) {
  return fmt::format("{}.{}", request.at("out").get<std::string>(), update);
}

}  // namespace bench
