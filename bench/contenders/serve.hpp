// What the contenders in C++ share: answering the harness, and reading what it points to.
//
// A contender is started as `PROGRAM THREADS` and lives as long as its standard input. It first prints a line that says
// who it is and which kinds of work it knows; then every line it reads is a request, and every line it prints an
// answer:
//   > {"contender":"ergodic","kinds":["gibbs","train"],"threads":1,"version":"0.1.0"}
//   < {"kind":"gibbs","machine":"m.safetensors","data":"test.npy","chains":100,"sweeps":10,"seed":1}
//   > {"activity":0.131,"hertz":3.4e9,"seconds":0.0123}
// contenders/serve.py is the same in Python. The requests are made in workloads.py.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ergodic/core/matrix.hpp"
#include "ergodic/data/dataset.hpp"

namespace bench {

using Json = nlohmann::json;

/// Does one piece of work. The answer holds "seconds", of the work alone, and what there is to check.
using Work = std::function<Json(const Json& request)>;

/// Answers until the standard input ends. The exit code of the program.
int serve(const std::string& contender, const std::string& version, std::size_t threads,
          const std::map<std::string, Work>& kinds);

/// The number of threads on the command line.
std::size_t threads_from(int argc, char** argv);

/// The first rows of a data file. The file last asked for is kept.
ergodic::Dataset first_rows(const std::string& path, std::size_t count);

/// The numbers of a NumPy file of floats.
std::vector<float> read_floats(const std::string& path);

/// A matrix of couplings from a NumPy file of floats.
ergodic::Matrix<float> read_couplings(const std::string& path);

/// The factors of a product, of random numbers in [-0.5, 0.5).
struct ProductFactors {
  explicit ProductFactors(const Json& request);

  /// The sum of the elements of what has been added `times` times, for one time.
  double sum(const ergodic::Matrix<float>& out) const;

  std::size_t left, inner, right, times;
  bool a_turned, b_turned;  ///< whether the matrices are the transposes of the factors
  ergodic::Matrix<float> a, b;
};

/// Where the machine goes after so many updates: the request's "out" with that number behind it.
std::string snapshot_path(const Json& request, std::size_t update);

}  // namespace bench
