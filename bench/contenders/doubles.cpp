// Annealed importance sampling as anybody would write it down: double precision, one chain after the other, dense
// products row by row. Threads share the chains.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "clock.hpp"
#include "ergodic/machine/model_file.hpp"
#include "ergodic/machine/rbm.hpp"
#include "ergodic/model/rbm.hpp"
#include "serve.hpp"
#include "xoshiro.hpp"

namespace {

using namespace bench;

using Numbers = std::vector<double>;

struct Machine {
  ergodic::Matrix<double> weights, transposed;  // [visible, hidden], and the other way round
  Numbers visible_bias, hidden_bias, base;
};

Machine load(const Json& request) {
  const auto rbm =
      *ergodic::model_in<ergodic::Rbm>(*ergodic::load_model(request.at("machine").get<std::string>()).machine);
  const auto weights = rbm.weights();
  Machine out{{weights.rows(), weights.cols()}, {weights.cols(), weights.rows()}, {}, {}, {}};
  for (std::size_t i = 0; i < weights.rows(); ++i) {
    for (std::size_t j = 0; j < weights.cols(); ++j) {
      out.weights(i, j) = out.transposed(j, i) = static_cast<double>(weights(i, j));
    }
  }
  out.visible_bias.assign(rbm.visible_bias().begin(), rbm.visible_bias().end());
  out.hidden_bias.assign(rbm.hidden_bias().begin(), rbm.hidden_bias().end());
  const std::vector<float> base = read_floats(request.at("base"));
  out.base.assign(base.begin(), base.end());
  return out;
}

/// bias + x W
Numbers fields(const Numbers& x, const ergodic::Matrix<double>& weights, const Numbers& bias) {
  Numbers out = bias;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double* const row = weights.row(i).data();
    const double value = x[i];
    for (std::size_t j = 0; j < out.size(); ++j) out[j] += value * row[j];
  }
  return out;
}

double softplus(double field) { return std::log1p(std::exp(field)); }

double draw(double field, Xoshiro<std::uint32_t>& random) {
  const double uniform = static_cast<double>(random.next()) * 0x1p-32;
  return uniform < 1.0 / (1.0 + std::exp(-field)) ? 1.0 : 0.0;
}

/// The log weight of one chain.
double anneal(const Machine& machine, std::size_t temperatures, Xoshiro<std::uint32_t>& random) {
  Numbers visible(machine.base.size()), hidden(machine.hidden_bias.size());
  for (std::size_t i = 0; i < visible.size(); ++i) visible[i] = draw(machine.base[i], random);
  double weight = 0.0;
  for (std::size_t k = 1; k <= temperatures; ++k) {
    const double from = static_cast<double>(k - 1) / static_cast<double>(temperatures);
    const double to = static_cast<double>(k) / static_cast<double>(temperatures);
    const Numbers up = fields(visible, machine.weights, machine.hidden_bias);
    for (const double field : up) weight += softplus(to * field) - softplus(from * field);
    for (std::size_t i = 0; i < visible.size(); ++i) {
      weight += (to - from) * visible[i] * (machine.visible_bias[i] - machine.base[i]);
    }
    if (k == temperatures) break;
    for (std::size_t j = 0; j < hidden.size(); ++j) hidden[j] = draw(to * up[j], random);
    const Numbers down = fields(hidden, machine.transposed, machine.visible_bias);
    for (std::size_t i = 0; i < visible.size(); ++i) {
      visible[i] = draw(to * down[i] + (1.0 - to) * machine.base[i], random);
    }
  }
  return weight;
}

Json ais(const Json& request, std::size_t threads) {
  const Machine machine = load(request);
  const std::size_t chains = request.at("chains"), temperatures = request.at("temperatures");
  const std::uint64_t seed = request.at("seed");
  Numbers weights(chains);
  Stopwatch watch;
  watch.start();
  std::vector<std::thread> workers;
  for (std::size_t t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      for (std::size_t c = t; c < chains; c += threads) {
        Xoshiro<std::uint32_t> random(seed * chains + c);
        weights[c] = anneal(machine, temperatures, random);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  watch.stop();

  double largest = weights[0], sum = 0.0;
  for (const double w : weights) largest = std::max(largest, w);
  for (const double w : weights) sum += std::exp(w - largest);
  double log_z = largest + std::log(sum / static_cast<double>(chains));
  for (const double field : machine.base) log_z += softplus(field);
  log_z += static_cast<double>(machine.hidden_bias.size()) * std::log(2.0);
  return {{"seconds", watch.seconds()}, {"log_z", log_z}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t threads = threads_from(argc, argv);
  return serve("doubles", __VERSION__, threads, {{"ais", [&](const Json& request) { return ais(request, threads); }}});
}
