// An energy of your own. A ring of spins whose neighbours meet in pairs and in threes:
//   E(x) = - sum_i (J x_i x_i+1 + K x_i x_i+1 x_i+2).
// Only the energy is written here: sampling, training and the likelihood are the library's.
#include <cstdio>
#include <ergodic/ergodic.hpp>

using namespace ergodic;

struct Ring {
  std::vector<Layer> units{Spin{12}};
  Parameters theta;

  Ring(float pairs, float triples) {
    theta.add("J", {1});
    theta.add("K", {1});
    theta["J"][0] = pairs;
    theta["K"][0] = triples;
  }
  const std::vector<Layer>& layers() const { return units; }
  const Parameters& parameters() const { return theta; }
  void update(const auto& edit, const Context&) { edit(theta); }

  std::vector<double> energy(LayerStates layers, const Context&) const {  // of each row
    const State& x = layers[0];
    const float J = theta["J"][0], K = theta["K"][0];
    std::vector<double> out(x.chains());
    for (std::size_t r = 0; r < x.chains(); ++r) {
      for (std::size_t i = 0; i < 12; ++i) {
        const double pair = x.value(r, i) * x.value(r, (i + 1) % 12);
        out[r] -= J * pair + K * pair * x.value(r, (i + 2) % 12);
      }
    }
    return out;
  }
};

int main() {
  const auto likelihood = [](const auto& model, const State& x) {  // exact: there are only 4096 states
    return mean_log_likelihood(model.energy(x, {}), exact_log_z(model, {}).value()).value;
  };

  // Data: 2000 chains of the true machine.
  const Ring truth(0.4f, -0.25f);
  Chains chains{{make_state(Spin{12}, 2000)}};
  for (int s = 0; s < 100; ++s) step(Metropolis{}, truth, chains, Key{1}, {});
  const State x = chains.layers[0];
  const Dataset data = dataset_of(x.bits(), {.name = "ring"});

  // A machine that knows nothing learns from them; 200 chains of its own say what it believes.
  Differenced model(Ring(0.0f, 0.0f));
  std::printf("log-likelihood before %.3f\n", likelihood(model, x));
  TrainOptions options;
  options.chains = 200;
  options.learning_rate = 0.02;
  trainer_of(model, data, {}, options, Key{2}, {}).run([] {}, {});
  std::printf("log-likelihood after  %.3f, of the true machine %.3f\n", likelihood(model, x), likelihood(truth, x));
  std::printf("J %.2f, K %.2f of 0.40, -0.25\n", model.parameters()["J"][0], model.parameters()["K"][0]);
}
