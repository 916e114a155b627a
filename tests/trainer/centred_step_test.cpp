#include "ergodic/trainer/centred_step.hpp"

#include <gtest/gtest.h>

#include "brute_force.hpp"
#include "ergodic/core/threads.hpp"
#include "ergodic/data/synthetic.hpp"
#include "ergodic/model/exact_rbm.hpp"
#include "ergodic/trainer/rbm_learner.hpp"
#include "kernels/random_inputs.hpp"

namespace ergodic {
namespace {

constexpr OptimiserKind kKinds[] = {OptimiserKind::kAdam, OptimiserKind::kSpectral};

TEST(CentredStep, OfSgdIsAStepAlongThePlainGradient) {
  const Rbm start = test::random_machine(Bernoulli{70}, Bernoulli{33}, 1.0, 2);
  const std::size_t count = start.parameters().values().size();
  const Matrix<float> gradient = test::random_matrix(1, count, 4);
  const std::vector<double> mu(70, 0.3), lambda(33, 0.4);
  Parameters plain = start.parameters(), centred = plain;
  std::vector<float> velocity(count), other(count);
  CentredStep step_in;
  for (std::uint64_t update = 0; update < 3; ++update) {
    step(Sgd{0.5}, {update, 0.1}, gradient.row(0), velocity, plain, {});
    std::ranges::copy(gradient.row(0), step_in.gradient(count).begin());
    step_in.step(Sgd{0.5}, {update, 0.1}, mu, lambda, other, centred, {});
  }
  // Biases see sums over 70 terms of about 0.5, there and back: roundoffs of some 1e-6 each.
  for (std::size_t k = 0; k < count; ++k) ASSERT_NEAR(centred.values()[k], plain.values()[k], 2e-5) << k;
}

double likelihood(const Rbm& rbm, const Dataset& data) {
  double sum = 0.0;
  for (const double f : rbm.free_energy(State(data.bits(), levels_of(rbm.visible())), {})) sum -= f;
  return sum / static_cast<double>(data.rows()) - *exact_log_z(rbm, {});
}

TrainOptions options_of(OptimiserKind kind, const std::string& method) {
  TrainOptions out;
  out.method = method;
  out.optimiser = kind;
  out.batch = 14;  // all rows
  out.chains = 20;
  out.updates = 60;
  out.learning_rate = 0.02;
  return out;
}

/// Inverted data and the machine rewritten for it learn the same, which they would not if optimisers saw the biases of
/// the plain machine.
TEST(CentredStep, DoesNotSeeWhetherBitsAreFlipped) {
  const Dataset data = bars_and_stripes(3);
  Dataset inverted = data;
  for (std::size_t r = 0; r < data.rows(); ++r) {
    for (std::size_t i = 0; i < data.units(); ++i) inverted.bits().set(r, i, !data.bits().get(r, i));
  }
  for (const OptimiserKind kind : kKinds) {
    Rbm rbm = test::random_machine(Bernoulli{9}, Bernoulli{5}, 1.0, 2), mirror = rbm;
    mirror.update(
        [&](Parameters& p) {
          for (std::size_t i = 0; i < 9; ++i) {
            p["visible_bias"][i] *= -1.0f;
            for (std::size_t j = 0; j < 5; ++j) {
              p["hidden_bias"][j] += rbm.weights()(i, j);
              p["weights"][i * 5 + j] *= -1.0f;
            }
          }
        },
        {});
    const double start = likelihood(rbm, data);
    const TrainOptions options = options_of(kind, "exact");
    trainer_of(rbm, data, {}, options, Key{3}, {}).run([] {}, {});
    trainer_of(mirror, inverted, {}, options, Key{3}, {}).run([] {}, {});
    EXPECT_GT(likelihood(rbm, data), start + 0.2);
    // 59 parameters round by about 1e-7 in each of 60 steps, whose lengths do not shrink with the gradient.
    EXPECT_NEAR(likelihood(mirror, inverted), likelihood(rbm, data), 1e-3);
  }
}

/// All kinds of gradients: in counts, in float and in double.
TEST(CentredStep, TrainsToTheSameBitsForAnyThreadsAndTargetsAndThroughInterruptions) {
  const Dataset bits = bars_and_stripes(3);
  Dataset reals{"reals", test::random_matrix(40, 9, 1)};
  for (const OptimiserKind kind : kKinds) {
    for (const std::string method : {"pcd", "exact", "real"}) {
      const Dataset& data = method == "real" ? reals : bits;
      const auto trained = [&](std::uint64_t stop, const Context& context) {
        Rbm model(method == "real" ? Layer{Gaussian{9}} : Layer{Bernoulli{9}}, Bernoulli{7});
        initialise(model, data, 0.3, Key{5}, context);
        TrainOptions options = options_of(kind, method == "exact" ? "exact" : "pcd");
        options.updates = 20;
        std::optional<Trainer> trainer(trainer_of(model, data, {}, options, Key{5}, context));
        trainer->run([] {}, context, stop);
        const TrainingState state = trainer->state();
        trainer.emplace(trainer_of(model, data, {}, options, Key{5}, context));
        trainer->restore(state);
        EXPECT_TRUE(trainer->run([] {}, context));
        const auto values = std::as_const(model).parameters().values();
        return std::vector<float>(values.begin(), values.end());
      };
      const std::vector<float> alone = trained(0, {});
      EXPECT_EQ(trained(7, {}), alone) << method;
      for (const std::size_t count : {2u, 3u}) {
        Threads threads(count);
        EXPECT_EQ(trained(3 + count, Context{&threads}), alone) << method;
      }
      test::for_each_target([&] { ASSERT_EQ(trained(0, {}), alone) << method; });
    }
  }
}

}  // namespace
}  // namespace ergodic
