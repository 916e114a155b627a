#include "ergodic/trainer/class_learner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "brute_force.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/data/moments.hpp"
#include "ergodic/model/exact_rbm.hpp"
#include "ergodic/trainer/trainer.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kValues = 4, kClasses = 3, kHidden = 3;

Rbm class_machine(double scale = 0.7) {
  return test::random_machine(joined({Bernoulli{kValues}, Potts{kClasses, kClasses}}), Bernoulli{kHidden}, scale, 3);
}

/// Rows of values and label units; label -1 is not known.
Dataset rows_of(const std::vector<std::vector<int>>& values, const std::vector<int>& labels) {
  Dataset out{"rows", Bits(values.size(), kValues + kClasses)};
  for (std::size_t r = 0; r < values.size(); ++r) {
    for (std::size_t i = 0; i < kValues; ++i) out.bits().set(r, i, values[r][i] == 1);
    out.bits().set(r, kValues + static_cast<std::size_t>(std::max(labels[r], 0)), true);
    for (std::size_t c = 0; c < kClasses && labels[r] < 0; ++c) out.set_missing(r, kValues + c);
  }
  out.labels = labels;
  return out;
}

Dataset labelled_rows() {
  return rows_of({{1, 0, 1, 0}, {1, 1, 1, 0}, {0, 0, 1, 1}, {0, 1, 0, 1}, {1, 1, 0, 0}}, {0, 0, 1, 2, 2});
}

/// By the free energies of all labels of a row.
double mean_log_posterior(const Rbm& rbm, const Dataset& data) {
  double sum = 0.0;
  for (std::size_t r = 0; r < data.rows(); ++r) {
    State all(kClasses, kValues + kClasses, Bernoulli::kLevels);
    for (std::size_t c = 0; c < kClasses; ++c) {
      for (std::size_t i = 0; i < kValues; ++i) all.bits().set(c, i, data.bits().get(r, i));
      all.bits().set(c, kValues + c, true);
    }
    const std::vector<double> f = rbm.free_energy(all, {});
    double total = 0.0;
    for (const double energy : f) total += std::exp(f[0] - energy);
    const auto label = static_cast<std::size_t>(data.labels[r]);
    sum += f[0] - f[label] - std::log(total);
  }
  return sum / static_cast<double>(data.rows());
}

double mean_log_likelihood(const Rbm& rbm, const Dataset& data) {
  double sum = 0.0;
  for (const double f : rbm.free_energy(State(data.bits(), Bernoulli::kLevels), {})) sum -= f;
  return sum / static_cast<double>(data.rows()) - *exact_log_z(rbm, {});
}

/// The derivatives of a function of the machine by differences.
Statistics differences(Rbm rbm, const std::function<double(const Rbm&)>& f) {
  Statistics out(rbm.parameters().values().size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    const float before = rbm.parameters().values()[k], high = before + 1e-3f, low = before - 1e-3f;
    const auto at = [&](float value) {
      rbm.update([&](Parameters& p) { p.values()[k] = value; }, {});
      return f(rbm);
    };
    out[k] = (at(high) - at(low)) / (double{high} - double{low});
    at(before);
  }
  return out;
}

/// Without an adversary.
TrainOptions options_for(Objective objective, std::uint64_t batch) {
  TrainOptions out;
  out.objective = objective;
  if (objective != Objective::kGenerative) out.adversarial = 0.0;
  out.method = "exact";
  out.batch = batch;
  out.updates = 1;
  out.learning_rate = 0.5;
  return out;
}

std::vector<std::uint32_t> all_rows_of(const Dataset& data) {
  std::vector<std::uint32_t> out(data.rows());
  std::iota(out.begin(), out.end(), 0u);
  return out;
}

/// How one update changes the parameters, divided by the rate.
Statistics one_step(Rbm& rbm, ClassLearner& learner, const Dataset& data, double rate) {
  const std::vector<float> before(rbm.parameters().values().begin(), rbm.parameters().values().end());
  learner.learn({0, 0, rate, all_rows_of(data)}, {});
  Statistics out(before.size());
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = (double{rbm.parameters().values()[k]} - before[k]) / rate;
  return out;
}

void expect_near(const Statistics& found, const Statistics& expected) {
  // Differences are off by h^2 f''' / 6, some 1e-7; parameters of size 1 are rounded to 6e-8, twice in a hybrid step,
  // before the division by the rate of 1/2.
  for (std::size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k], expected[k], 3e-6) << k;
}

struct Case {
  Objective objective;
  bool uncentred;
  double l2;
};
class ClassObjectives : public testing::TestWithParam<Case> {};

TEST_P(ClassObjectives, AStepIsAlongTheGradient) {
  const auto [objective, uncentred, l2] = GetParam();
  Rbm rbm = class_machine();
  const Rbm start = rbm;
  const Dataset data = labelled_rows();
  TrainOptions options = options_for(objective, data.rows());
  options.uncentred = uncentred;
  options.decay.l2 = l2;
  const double weight = 0.25;
  if (objective == Objective::kHybrid) options.generative_weight = weight;
  ClassLearner learner(rbm, data, {}, options, Key{1}, {});
  const Statistics found = one_step(rbm, learner, data, *options.learning_rate);
  Statistics expected = differences(start, [&](const Rbm& at) {
    return mean_log_posterior(at, data) +
           (objective == Objective::kHybrid ? weight * mean_log_likelihood(at, data) : 0.0);
  });
  std::vector<double> mu(data.units()), lambda(kHidden);
  if (!uncentred) {
    mu = unit_means(data);
    lambda.assign(kHidden, 0.5);
    if (objective == Objective::kHybrid) {
      const std::vector<double> offsets = learner.state().offsets;
      std::copy_n(offsets.begin(), kHidden, lambda.begin());
    }
  }
  condition(start, gaps_of(start, data), mu, lambda, {}, expected, {});
  if (l2 == 0.0) return expect_near(found, expected);
  // The penalty pulls at the weights: alone, it changes them by -l2 W, where W is that of before the step or within it.
  const std::size_t weights = start.weights().elements().size();
  for (std::size_t k = 0; k < weights; ++k) {
    const double pull = -l2 * start.parameters().values()[k];
    EXPECT_NEAR(found[k] - expected[k], pull, l2 * weight * 0.5 + 3e-6) << k;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ClassObjectives,
                         testing::Values(Case{Objective::kDiscriminative, true, 0.0},
                                         Case{Objective::kDiscriminative, false, 0.0},
                                         Case{Objective::kHybrid, true, 0.0}, Case{Objective::kHybrid, false, 0.0},
                                         Case{Objective::kDiscriminative, true, 0.01},
                                         Case{Objective::kHybrid, true, 0.01}));

TEST(ClassLearner, AnAdversaryMovesRowsBeforeTheyAreLearnedFrom) {
  constexpr double kFar = 0.3;
  Rbm rbm = class_machine();
  const Rbm start = rbm;
  const Dataset data = labelled_rows();
  TrainOptions options = options_for(Objective::kDiscriminative, data.rows());
  options.uncentred = true;
  options.adversarial = kFar;
  ClassLearner learner(rbm, data, {}, options, Key{1}, {});
  const Statistics found = one_step(rbm, learner, data, *options.learning_rate);

  Matrix<float> x(data.rows(), kValues), slopes(data.rows(), kValues);
  gather_inputs(data, all_rows_of(data), x);
  ClassPosterior posterior(start);
  posterior.probabilities(x, {});
  posterior.input_gradient(data.labels, slopes, {});
  for (std::size_t i = 0; i < kValues; ++i) {
    const double mean = unit_means(data)[i], reach = kFar * std::sqrt(mean * (1.0 - mean));  // of bits
    for (std::size_t r = 0; r < data.rows(); ++r) x(r, i) -= static_cast<float>(std::copysign(reach, slopes(r, i)));
  }
  posterior.probabilities(x, {});
  std::vector<float> gradient(start.parameters().values().size());
  posterior.gradient(x, data.labels, gradient, {});
  for (std::size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k], gradient[k], 3e-6) << k;
}

TEST(ClassLearner, MomentumIsThatOfTheSum) {
  // Two updates of the whole data: the second step is gradient + momentum times the first.
  Rbm rbm = class_machine();
  const Dataset data = labelled_rows();
  TrainOptions options = options_for(Objective::kHybrid, data.rows());
  options.uncentred = true;
  options.sgd.momentum = 0.6;
  options.generative_weight = 0.5;
  const auto objective = [&](const Rbm& at) {
    return mean_log_posterior(at, data) + 0.5 * mean_log_likelihood(at, data);
  };
  ClassLearner learner(rbm, data, {}, options, Key{1}, {});
  const Statistics first = one_step(rbm, learner, data, 0.1);
  Statistics expected = differences(rbm, objective);
  for (std::size_t k = 0; k < expected.size(); ++k) expected[k] += 0.6 * first[k];
  const Statistics second = one_step(rbm, learner, data, 0.1);
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(second[k], expected[k], 1e-5) << k;
}

TEST(ClassLearner, RowsWithoutALabelAreLearnedFromAsTheSumOverTheirLabels) {
  // The last two rows have no label: the data's side of their gradient is the mean over p(y | x). One update draws y by
  // fifty sweeps; its mean over many seeds is compared with the derivative of the likelihood, the labels summed out.
  const Dataset data = rows_of({{1, 0, 1, 0}, {0, 1, 0, 1}, {1, 1, 1, 0}, {0, 0, 1, 1}}, {0, 2, -1, -1});
  const Rbm start = class_machine();
  const auto likelihood = [&](const Rbm& rbm) {
    double sum = 0.0;
    for (std::size_t r = 0; r < data.rows(); ++r) {
      State all(kClasses, kValues + kClasses, Bernoulli::kLevels);
      for (std::size_t c = 0; c < kClasses; ++c) {
        for (std::size_t i = 0; i < kValues; ++i) all.bits().set(c, i, data.bits().get(r, i));
        all.bits().set(c, kValues + c, true);
      }
      const std::vector<double> f = rbm.free_energy(all, {});
      if (data.labels[r] >= 0) {
        sum -= f[static_cast<std::size_t>(data.labels[r])];
      } else {
        double total = 0.0;
        for (const double energy : f) total += std::exp(f[0] - energy);
        sum += std::log(total) - f[0];
      }
    }
    return sum / static_cast<double>(data.rows()) - *exact_log_z(rbm, {});
  };
  for (const Objective objective : {Objective::kGenerative, Objective::kHybrid}) {
    const double weight = 2.0;
    Dataset complete = select(data, std::vector<std::uint32_t>{0, 1});
    Statistics expected = differences(start, [&](const Rbm& rbm) {
      if (objective == Objective::kGenerative) return likelihood(rbm);
      return mean_log_posterior(rbm, complete) + weight * likelihood(rbm);
    });
    TrainOptions options = options_for(objective, data.rows());
    options.uncentred = true;
    options.steps = 50;
    if (objective == Objective::kHybrid) options.generative_weight = weight;
    constexpr std::size_t kSeeds = 2000;
    Statistics sums(expected.size()), squares(expected.size());
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      Rbm rbm = start;
      ClassLearner learner(rbm, data, {}, options, Key{seed}, {});
      const Statistics found = one_step(rbm, learner, data, 0.5);
      for (std::size_t k = 0; k < sums.size(); ++k) {
        sums[k] += found[k];
        squares[k] += found[k] * found[k];
      }
    }
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const double mean = sums[k] / kSeeds, variance = std::max(0.0, squares[k] / kSeeds - mean * mean);
      // Four standard errors, and the roundoff of what has no noise, such as the biases of the values.
      EXPECT_NEAR(mean, expected[k], 4.0 * std::sqrt(variance / kSeeds) + 5e-6) << k << " " << name_of(objective);
    }
  }
}

/// Rows whose label says which values are on, most of the time.
Dataset learnable_rows(std::size_t rows) {
  const Draw draw = Key{9}.at(Purpose::kTest);
  std::vector<std::vector<int>> values;
  std::vector<int> labels;
  for (std::uint32_t r = 0; r < rows; ++r) {
    labels.push_back(static_cast<int>(r % kClasses));
    std::vector<int>& row = values.emplace_back();
    for (std::uint32_t i = 0; i < kValues; ++i) {
      row.push_back((i == r % kClasses) == (draw.uniform(r, i) < 0.9) ? 1 : 0);
    }
  }
  return rows_of(values, labels);
}

TEST(ClassLearner, TheBestStateByHeldOutRowsIsTheResult) {
  const Dataset train = learnable_rows(30), held_out = learnable_rows(120);
  for (const Objective objective : {Objective::kDiscriminative, Objective::kHybrid}) {
    Rbm rbm = class_machine(0.1);
    TrainOptions options = options_for(objective, 5);
    options.method = "pcd";
    options.updates = 301;  // 50 epochs and an update
    options.record_every = 6;
    options.learning_rate = 4.0;  // too much: the error goes up and down
    Trainer trainer(std::make_unique<ClassLearner>(rbm, train, held_out, options, Key{2}, Context{}), train, options,
                    Key{2});
    EXPECT_TRUE(trainer.run([] {}, {}));
    const auto error_at = [](const Record& record) {
      return std::ranges::find(record.values, "held_out_error", &std::pair<std::string, double>::first)->second;
    };
    double least = 1.0, most = 0.0;
    for (const Record& record : trainer.records()) {
      if (record.update == 0) continue;
      least = std::min(least, error_at(record));
      most = std::max(most, error_at(record));
    }
    EXPECT_EQ(error_at(trainer.records().back()), least) << name_of(objective);
    EXPECT_LT(least, most) << name_of(objective);
    EXPECT_EQ(class_scores(class_probabilities(rbm, held_out, {}), held_out.labels).error, least) << name_of(objective);
  }
}

TEST(ClassLearner, GreyLevelsEnterAsNumbers) {
  Rbm rbm = class_machine();
  Dataset data{"grey", Matrix<Grey>(1, kValues + kClasses)};
  for (std::size_t i = 0; i < kValues; ++i) data.grey()(0, i) = static_cast<Grey>(13107 * i);
  data.grey()(0, kValues + 1) = kFullGrey;
  const Matrix<float> found = class_probabilities(rbm, data, {});
  Matrix<float> x(1, kValues);
  for (std::size_t i = 0; i < kValues; ++i) x(0, i) = 0.2f * static_cast<float>(i);
  const Matrix<float> expected = class_probabilities(rbm, x, {});
  for (std::size_t c = 0; c < kClasses; ++c) EXPECT_NEAR(found(0, c), expected(0, c), 1e-6);
}

TEST(ClassLearner, RefusesWhatItCannotLearn) {
  Rbm rbm = class_machine();
  const Dataset bare = rows_of({{1, 0, 1, 0}, {0, 1, 0, 1}}, {-1, -1});
  for (const Objective objective : {Objective::kDiscriminative, Objective::kHybrid}) {
    EXPECT_THROW(ClassLearner(rbm, bare, {}, options_for(objective, 2), Key{1}, {}), UsageError);
  }
  Dataset off = labelled_rows();
  off.bits().set(3, kValues + 2, false);
  EXPECT_THROW(ClassLearner(rbm, off, {}, options_for(Objective::kGenerative, 5), Key{1}, {}), UsageError);
  TrainOptions options = options_for(Objective::kDiscriminative, 5);
  options.generative_weight = 0.1;
  EXPECT_THROW(ClassLearner(rbm, labelled_rows(), {}, options, Key{1}, {}), UsageError);
  options = options_for(Objective::kGenerative, 5);
  options.adversarial = 0.1;
  EXPECT_THROW(ClassLearner(rbm, labelled_rows(), {}, options, Key{1}, {}), UsageError);
}

}  // namespace
}  // namespace ergodic
