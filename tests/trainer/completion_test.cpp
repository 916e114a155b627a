#include "ergodic/trainer/completion.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "boltzmann_machines.hpp"
#include "brute_force.hpp"
#include "ergodic/core/elementary.hpp"
#include "ergodic/data/synthetic.hpp"
#include "ergodic/model/elimination.hpp"
#include "ergodic/model/exact_rbm.hpp"
#include "ergodic/trainer/energy_learner.hpp"
#include "ergodic/trainer/persistent_chains.hpp"
#include "ergodic/trainer/rbm_learner.hpp"

namespace ergodic {
namespace {

/// Rows of 0 and 1 in which these units are missing, in every row.
Dataset rows_without(std::size_t rows, std::size_t units, std::initializer_list<std::size_t> missing) {
  Dataset out{"rows", Bits(rows, units)};
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < units; ++i) out.bits().set(r, i, (i % 3) == 1);
    for (const std::size_t unit : missing) out.set_missing(r, unit);
  }
  return out;
}

TEST(Completion, GivesKnownValuesAndKeepsTheDrawsOfOthers) {
  const Dataset data = rows_without(3, 70, {2, 69});
  State draws(3, 72, Bernoulli::kLevels);  // the machine has two units more
  for (std::size_t i = 0; i < 72; ++i) draws.bits().set(1, i, true);
  Completion completion(data, draws);
  EXPECT_TRUE(completion.needed());
  const std::vector<std::uint32_t> rows{1, 2};
  Bits known;
  State batch = completion.gather(rows, Key{1}, 0, known);
  for (std::size_t i = 0; i < 72; ++i) {
    const bool is_known = i != 2 && i < 69;
    EXPECT_EQ(known.get(0, i), is_known) << i;
    EXPECT_EQ(batch.bits().get(0, i), is_known ? i % 3 == 1 : true) << i;
    EXPECT_EQ(batch.bits().get(1, i), is_known ? i % 3 == 1 : false) << i;
  }
  batch.bits().set(1, 71, true);
  completion.keep(rows, batch);
  EXPECT_TRUE(completion.gather(rows, Key{1}, 0, known).bits().get(1, 71));
}

TEST(Completion, DrawsWhatIsMissingGivenWhatIsKnown) {
  // Two of six units are missing. Their four states have exact probabilities given the others.
  constexpr std::size_t kRows = 4000;
  const Dataset data = rows_without(kRows, 6, {0, 4});
  const Rbm rbm = test::random_machine(Bernoulli{6}, Bernoulli{4}, 1.0, 3);
  Completion completion(data, independent_start(rbm, kRows, Key{2}, {}, kFirstDataChain).layers[0]);
  std::vector<std::uint32_t> rows(kRows);
  for (std::uint32_t r = 0; r < kRows; ++r) rows[r] = r;
  Bits known;
  Chains chains = start_at(rbm, completion.gather(rows, Key{2}, 0, known), 0, Key{2}, {});
  complete(rbm, known, 50, chains, Key{2}, {});
  std::vector<double> counts(4), weights(4);
  State four(4, 6, Bernoulli::kLevels);
  for (std::size_t s = 0; s < 4; ++s) {
    four.set_row(s, chains.layers[0], 0);
    four.bits().set(s, 0, s & 1);
    four.bits().set(s, 4, s & 2);
  }
  const std::vector<double> energies = rbm.free_energy(four, {});
  double sum = 0.0;
  for (std::size_t s = 0; s < 4; ++s) sum += weights[s] = std::exp(energies[0] - energies[s]);
  for (std::size_t r = 0; r < kRows; ++r) {
    const Bits& bits = chains.layers[0].bits();
    ++counts[(bits.get(r, 0) ? 1u : 0u) + (bits.get(r, 4) ? 2u : 0u)];
    for (const std::size_t i : {1u, 2u, 3u, 5u}) ASSERT_EQ(bits.get(r, i), i % 3 == 1);
  }
  for (std::size_t s = 0; s < 4; ++s) {
    const double p = weights[s] / sum;
    EXPECT_NEAR(counts[s] / kRows, p, 4.0 * std::sqrt(p * (1.0 - p) / kRows)) << s;
  }
}

/// The exact mean log-likelihood of complete rows.
double likelihood(const Rbm& rbm, const Dataset& data) {
  double sum = 0.0;
  for (const double f : rbm.free_energy(State(data.bits(), Bernoulli::kLevels), {})) sum -= f;
  return sum / static_cast<double>(data.rows()) - *exact_log_z(rbm, {});
}

double trained_on(const Dataset& rows) {
  Rbm rbm(Bernoulli{9}, Bernoulli{8});
  initialise(rbm, rows, 0.1, Key{4}, {});
  TrainOptions options;
  options.batch = rows.rows();
  options.epochs = 10000;
  options.record_every = 10000;
  options.learning_rate = 0.2;
  trainer_of(rbm, rows, {}, options, Key{5}, {}).run([] {}, {});
  return likelihood(rbm, bars_and_stripes(3));
}

TEST(Completion, MissingValuesAreLearnedAroundAndNotAsZeros) {
  // Each of the 144 values of bars-and-stripes is missing in one of nine copies of the set.
  const Dataset whole = bars_and_stripes(3);
  Dataset gappy{"gappy", Bits(9 * whole.rows(), 9)};
  for (std::size_t r = 0; r < gappy.rows(); ++r) {
    for (std::size_t i = 0; i < 9; ++i) gappy.bits().set(r, i, whole.bits().get(r % whole.rows(), i));
  }
  for (std::size_t r = 0; r < gappy.rows(); ++r) gappy.set_missing(r, r / whole.rows());
  Dataset zeros = gappy;
  zeros.known = {};
  for (std::size_t r = 0; r < zeros.rows(); ++r) zeros.bits().set(r, r / whole.rows(), false);
  // Independent units give -6.24; the best is -2.60. Zeros cost a row with an 8 in 9 chance of each of its ones alone
  // 0.5 nats; draws cost little.
  const double drawn = trained_on(gappy);
  EXPECT_GT(drawn, -3.2);
  EXPECT_GT(drawn, trained_on(zeros) + 0.3);
}

TEST(Completion, HiddenUnitsOnAGraphLearnWhatPairsCannot) {
  // Three spins whose product is always +1: pairs are independent, so that without hidden units nothing can be learned
  // and the likelihood is -3 log 2; the best is -2 log 2.
  Dataset data{"products", Bits(4, 3)};
  for (std::size_t r = 0; r < 4; ++r) {
    data.bits().set(r, 0, r & 1);
    data.bits().set(r, 1, r & 2);
    data.bits().set(r, 2, ((r & 1) != 0) == ((r & 2) != 0));
  }
  Boltzmann machine(Spin{7}, dense_graph(7), 3);
  const Draw draw = Key{6}.at(Purpose::kTest);
  machine.update(
      [&](Parameters& p) {
        std::uint32_t k = 0;
        for (float& w : p["couplings"]) w = static_cast<float>(0.3 * draw.normal(0, k++));
      },
      {});
  EnergyLearning learning;
  learning.completion = Completion(data, independent_start(machine, 4, Key{7}, {}, kFirstDataChain).layers[0]);
  TrainOptions options;
  options.batch = 4;
  options.epochs = 20000;
  options.record_every = 20000;
  options.learning_rate = 0.02;
  auto learner = std::make_unique<EnergyLearner<Boltzmann>>(
      machine, data, Dataset{}, std::make_unique<SimulatorOf<Boltzmann, Gibbs>>(machine, Gibbs{}),
      std::make_unique<PersistentChains>(1, independent_start(machine, 50, Key{7}, {})), std::move(learning), Key{7});
  Trainer(std::move(learner), data, options, Key{7}).run([] {}, {});
  const std::vector<double> free_energy = *exact_free_energy(machine, State(data.bits(), Spin::kLevels), {});
  double sum = 0.0;
  for (const double f : free_energy) sum -= f;
  EXPECT_GT(sum / 4.0 - *exact_log_z(machine, {}), -2.5 * std::log(2.0));  // half of the way
}

}  // namespace
}  // namespace ergodic
