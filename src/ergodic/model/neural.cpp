#include "ergodic/model/neural.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <utility>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kRowsAtATime = 48;  // of one thread: their values in all layers stay in its cache
constexpr double kFirstScale = 2.0;       // deviation of the first weights for one input: features finer than the data

}  // namespace

Bowl bowl_of(const Matrix<float>& rows, std::span<const double> row_weights) {
  assert(row_weights.empty() || row_weights.size() == rows.rows());
  const std::size_t units = rows.cols();
  std::vector<double> sums(units), squares(units);
  const auto weight = [&](std::size_t r) { return row_weights.empty() ? 1.0 : row_weights[r]; };
  double total = 0.0;
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    total += weight(r);
    for (std::size_t i = 0; i < units; ++i) sums[i] += weight(r) * rows(r, i);
  }
  for (double& sum : sums) sum /= total;
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    for (std::size_t i = 0; i < units; ++i) squares[i] += weight(r) * (rows(r, i) - sums[i]) * (rows(r, i) - sums[i]);
  }
  Bowl out;
  for (std::size_t i = 0; i < units; ++i) {
    const double deviation = std::sqrt(squares[i] / total);
    if (!std::isfinite(deviation)) {
      throw DataError(
          fmt::format("unit {} of the data has no finite mean and deviation in {} rows", i + 1, rows.rows()));
    }
    out.mean.push_back(static_cast<float>(sums[i]));
    out.deviation.push_back(deviation > 0.0 ? static_cast<float>(deviation) : 1.0f);
  }
  return out;
}

State draw_of(const Bowl& bowl, std::size_t count, const Draw& draw, std::uint64_t first_chain) {
  Matrix<float> out(count, bowl.mean.size());
  for (std::size_t r = 0; r < count; ++r) {
    for (std::uint32_t i = 0; i < out.cols(); ++i) {
      const double z = draw.normal(static_cast<std::uint32_t>(first_chain + r), kFirstBowlNumber + i);
      out(r, i) = static_cast<float>(bowl.mean[i] + bowl.deviation[i] * z);
    }
  }
  return State(std::move(out));
}

Neural::Neural(Bowl bowl, std::vector<std::size_t> hidden)
    : bowl_(std::move(bowl)),
      units_(Gaussian{bowl_.mean.size()}),
      perceptron_(bowl_.mean.size(), std::move(hidden)),
      parameters_(perceptron_.make_parameters()) {
  require(bowl_.mean.size() == bowl_.deviation.size(),
          fmt::format("a bowl needs a deviation for each of the {} means, found {}", bowl_.mean.size(),
                      bowl_.deviation.size()));
  for (std::size_t i = 0; i < bowl_.mean.size(); ++i) {
    require(std::isfinite(bowl_.mean[i]) && bowl_.deviation[i] > 0.0f && std::isfinite(bowl_.deviation[i]),
            fmt::format("a bowl needs finite means and positive deviations, found {} and {} of unit {}", bowl_.mean[i],
                        bowl_.deviation[i], i + 1));
  }
}

std::vector<double> Neural::bowl_energy(const State& x, const Context& context) const {
  assert(x.real() && x.units() == bowl_.mean.size());
  std::vector<double> out(x.chains());
  context.for_blocks(x.chains(), kRowsAtATime, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      double sum = 0.0;
      for (std::size_t i = 0; i < x.units(); ++i) {
        const double z = standardised(x, r, i);
        sum += z * z;
      }
      out[r] = 0.5 * sum;
    }
  });
  return out;
}

State Neural::draw_uncoupled(std::size_t count, const Draw& draw, std::uint64_t first_chain) const {
  return draw_of(bowl_, count, draw, first_chain);
}

std::vector<double> Neural::energy(LayerStates layers, const Context& context) const {
  const State& x = layers[0];
  std::vector<double> out = bowl_energy(x, context);
  context.for_blocks(x.chains(), kRowsAtATime, [&](std::size_t begin, std::size_t end) {
    Matrix<double> z(end - begin, x.units());
    for (std::size_t r = begin; r < end; ++r) {
      for (std::size_t i = 0; i < z.cols(); ++i) z(r - begin, i) = standardised(x, r, i);
    }
    std::vector<double> g(end - begin);
    perceptron_.outputs(z, g);
    for (std::size_t r = begin; r < end; ++r) out[r] += g[r - begin];
  });
  return out;
}

template <class F>
void Neural::for_derivatives(const State& x, std::span<const double> row_weights, const Context& context,
                             const F& f) const {
  assert(x.real() && x.units() == bowl_.mean.size());
  assert(row_weights.size() == 1 || row_weights.size() == x.chains());
  context.for_blocks(x.chains(), kRowsAtATime, [&](std::size_t begin, std::size_t end) {
    thread_local Perceptron::Pass pass;
    perceptron_.fit(end - begin, pass);
    std::array<float, kRowsAtATime> weights;
    for (std::size_t r = begin; r < end; ++r) {
      weights[r - begin] = static_cast<float>(row_weights.size() == 1 ? row_weights[0] : row_weights[r]);
      const std::span<float> to = pass.values[0].row(r - begin);
      for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(standardised(x, r, i));
    }
    perceptron_.differentiate(std::span(weights).first(end - begin), pass);
    f(pass, std::span<const float>(weights).first(end - begin), begin);
  });
}

Matrix<double> Neural::forces(const State& x, const Context& context) const {
  constexpr double kOne = 1.0;
  Matrix<double> out(x.chains(), x.units());
  for_derivatives(x, {&kOne, 1}, context, [&](const Perceptron::Pass& pass, std::span<const float>, std::size_t begin) {
    Matrix<float> slopes(pass.rows, x.units());
    perceptron_.find_input_slopes(pass, slopes);
    for (std::size_t r = 0; r < pass.rows; ++r) {
      for (std::size_t i = 0; i < out.cols(); ++i) {
        out(begin + r, i) = -(standardised(x, begin + r, i) + slopes(r, i)) / bowl_.deviation[i];
      }
    }
  });
  return out;
}

void Neural::add_statistics(const State& x, std::span<const double> row_weights, Statistics& out,
                            const Context& context) const {
  assert(out.size() == parameters_.values().size());
  // Each block of rows has sums of its own, which are added in order: no sum depends on the threads.
  Matrix<float> sums((x.chains() + kRowsAtATime - 1) / kRowsAtATime, out.size());
  for_derivatives(x, row_weights, context,
                  [&](const Perceptron::Pass& pass, std::span<const float> weights, std::size_t begin) {
                    perceptron_.find_gradient(pass, weights, sums.row(begin / kRowsAtATime));
                  });
  for (std::size_t block = 0; block < sums.rows(); ++block) {
    const std::span<const float> part = std::as_const(sums).row(block);
    for (std::size_t k = 0; k < out.size(); ++k) out[k] -= part[k];
  }
}

void initialise(Neural& model, Key key, const Context& context) {
  const auto fill = [&](Parameters& parameters) {
    for (std::size_t layer = 0; layer < model.hidden().size(); ++layer) {
      const Draw draw = key.at(Purpose::kInitialWeights, 0, static_cast<std::uint8_t>(layer));
      const Slot& slot = parameters.slot(Perceptron::weights_slot(layer));
      const std::size_t from = slot.shape[0], to = slot.shape[1];
      const double scale = (layer == 0 ? kFirstScale : 1.0) / std::sqrt(static_cast<double>(from));
      const std::span<float> weights = parameters[slot.name], bias = parameters[Perceptron::bias_slot(layer)];
      for (std::size_t i = 0; i < from; ++i) {
        for (std::size_t j = 0; j < to; ++j) {
          weights[i * to + j] =
              static_cast<float>(scale * draw.normal(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)));
        }
      }
      // A first unit bends somewhere among the data; later ones as their inputs have it.
      for (std::size_t j = 0; j < to && layer == 0; ++j) {
        bias[j] = static_cast<float>(kFirstScale *
                                     draw.normal(static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(j)));
      }
    }
    const std::span<float> last = parameters[Perceptron::weights_slot(model.hidden().size())];
    std::fill(last.begin(), last.end(), 0.0f);
  };
  model.update(fill, context);
}

}  // namespace ergodic
