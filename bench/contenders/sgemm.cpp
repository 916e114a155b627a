// The same algorithms composed from OpenBLAS's sgemm and a vectorised sampler. Everything is float32, a row for each
// sample or chain, and nothing is allocated inside the loops.

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "ergodic/core/bits.hpp"
#include "ergodic/core/context.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/format/npy.hpp"
#include "ergodic/machine/model_file.hpp"
#include "ergodic/machine/rbm.hpp"
#include "ergodic/model/rbm.hpp"
#include "ergodic/trainer/rbm_learner.hpp"
#include "lanes.hpp"
#include "serve.hpp"

namespace {

using namespace bench;

/// Row-major floats.
struct Rows {
  Rows(std::size_t row_count, std::size_t column_count)
      : count(row_count), columns(column_count), elements(row_count * column_count) {}

  float* operator[](std::size_t r) { return elements.data() + r * columns; }
  const float* operator[](std::size_t r) const { return elements.data() + r * columns; }

  std::size_t count, columns;
  std::vector<float> elements;
};

Rows unpacked(const ergodic::Bits& bits) {
  Rows out(bits.rows(), bits.cols());
  for (std::size_t r = 0; r < out.count; ++r) {
    ergodic::for_each_set(bits.row(r), [&](std::size_t unit) { out[r][unit] = 1.0f; });
  }
  return out;
}

void multiply(CBLAS_TRANSPOSE transpose_a, CBLAS_TRANSPOSE transpose_b, std::size_t m, std::size_t n, std::size_t k,
              float alpha, const float* a, std::size_t a_stride, const float* b, std::size_t b_stride, float beta,
              float* c) {
  const auto to_blas = [](std::size_t size) { return static_cast<blasint>(size); };
  cblas_sgemm(CblasRowMajor, transpose_a, transpose_b, to_blas(m), to_blas(n), to_blas(k), alpha, a, to_blas(a_stride),
              b, to_blas(b_stride), beta, c, to_blas(n));
}

class Machine {
 public:
  explicit Machine(const ergodic::Rbm& rbm)
      : weights(rbm.weights().rows(), rbm.weights().cols()),
        visible_bias(rbm.visible_bias().begin(), rbm.visible_bias().end()),
        hidden_bias(rbm.hidden_bias().begin(), rbm.hidden_bias().end()) {
    std::copy_n(rbm.weights().data(), weights.elements.size(), weights.elements.data());
  }

  std::size_t visible() const { return weights.count; }
  std::size_t hidden() const { return weights.columns; }

  /// fields = scale * rows of x times W, without the bias.
  void up(const float* x, std::size_t rows, float scale, float* fields) const {
    multiply(CblasNoTrans, CblasNoTrans, rows, hidden(), visible(), scale, x, visible(), weights[0], hidden(), 0.0f,
             fields);
  }
  /// fields = scale * rows of v times W', without the bias.
  void down(const float* v, std::size_t rows, float scale, float* fields) const {
    multiply(CblasNoTrans, CblasTrans, rows, visible(), hidden(), scale, v, hidden(), weights[0], hidden(), 0.0f,
             fields);
  }
  /// W += scale * sum over the rows of x v'.
  void add_outer(const float* x, const float* v, std::size_t rows, float scale) {
    multiply(CblasTrans, CblasNoTrans, visible(), hidden(), rows, scale, x, visible(), v, hidden(), 1.0f, weights[0]);
  }

  void save(const std::string& path) const {
    ergodic::Rbm rbm(ergodic::Bernoulli{visible()}, ergodic::Bernoulli{hidden()});
    const auto edit = [&](ergodic::Parameters& parameters) {
      std::copy(weights.elements.begin(), weights.elements.end(), parameters["weights"].begin());
      std::copy(visible_bias.begin(), visible_bias.end(), parameters["visible_bias"].begin());
      std::copy(hidden_bias.begin(), hidden_bias.end(), parameters["hidden_bias"].begin());
    };
    rbm.update(edit, ergodic::Context{});
    ergodic::save_model(path, ergodic::RbmMachine(rbm), {});
  }

  Rows weights;  // [visible, hidden]
  std::vector<float> visible_bias, hidden_bias;
};

Machine load_machine(const Json& request) {
  return Machine(
      *ergodic::model_in<ergodic::Rbm>(*ergodic::load_model(request.at("machine").get<std::string>()).machine));
}

/// The start that Ergodic gives a machine too.
Machine first_machine(const ergodic::Dataset& data, const Json& request) {
  ergodic::Rbm rbm(ergodic::Bernoulli{data.units()}, ergodic::Bernoulli{request.at("hidden").get<std::size_t>()});
  ergodic::initialise(rbm, data, 0.01, ergodic::Key{request.at("seed")}, ergodic::Context{});
  return Machine(rbm);
}

/// Block Gibbs sampling of a fixed number of rows.
class Gibbs {
 public:
  Gibbs(const Machine& machine, std::size_t rows, std::uint64_t seed)
      : machine_(machine), rows_(rows), fields_(rows, std::max(machine.visible(), machine.hidden())), sampler_(seed) {}

  /// v given x; a unit that is on has the value `on`.
  void draw_hidden(const float* x, float on, float* v) {
    machine_.up(x, rows_, 1.0f, fields_[0]);
    draw(machine_.hidden_bias, on, v);
  }
  /// x given v, whose units that are on have the value `on`, 1 or -1.
  void draw_visible(const float* v, float on, float* x) {
    machine_.down(v, rows_, on, fields_[0]);
    draw(machine_.visible_bias, 1.0f, x);
  }

 private:
  void draw(const std::vector<float>& bias, float on, float* out) {
    const std::size_t units = bias.size();
    for (std::size_t r = 0; r < rows_; ++r) {
      sampler_.draw(fields_[0] + r * units, bias.data(), units, on, out + r * units);
    }
  }

  const Machine& machine_;
  std::size_t rows_;
  Rows fields_;
  Sampler sampler_;
};

/// One update after the other. Data and chains are stacked, and the chains' hidden units are 0 or -1, so that the
/// difference of the two statistics is a single product, added to the weights.
class Training {
 public:
  Training(Machine& machine, const Json& request)
      : machine_(machine),
        batch_(request.at("batch")),
        steps_(request.at("steps")),
        persistent_(request.at("method") == "pcd"),
        scale_(request.at("rate").get<float>() / static_cast<float>(batch_)),
        gibbs_(machine, batch_, request.at("seed")),
        visible_(2 * batch_, machine.visible()),
        hidden_(2 * batch_, machine.hidden()) {}

  void update(const float* data) {
    float* const data_hidden = hidden_[0];
    float* const chain_visible = visible_[batch_];
    float* const chain_hidden = hidden_[batch_];
    std::copy_n(data, batch_ * machine_.visible(), visible_[0]);
    gibbs_.draw_hidden(visible_[0], 1.0f, data_hidden);
    for (std::size_t s = 0; s < steps_; ++s) {
      const bool from_data = s == 0 && !persistent_;
      gibbs_.draw_visible(from_data ? data_hidden : chain_hidden, from_data ? 1.0f : -1.0f, chain_visible);
      gibbs_.draw_hidden(chain_visible, -1.0f, chain_hidden);
    }
    machine_.add_outer(visible_[0], hidden_[0], 2 * batch_, scale_);
    for (std::size_t r = 0; r < batch_; ++r) {
      add(visible_[r], scale_, machine_.visible_bias);
      add(visible_[batch_ + r], -scale_, machine_.visible_bias);
      add(hidden_[r], scale_, machine_.hidden_bias);
      add(hidden_[batch_ + r], scale_, machine_.hidden_bias);
    }
  }

 private:
  static void add(const float* row, float scale, std::vector<float>& bias) {
    for (std::size_t k = 0; k < bias.size(); ++k) bias[k] += scale * row[k];
  }

  Machine& machine_;
  std::size_t batch_, steps_;
  bool persistent_;
  float scale_;
  Gibbs gibbs_;
  Rows visible_, hidden_;  // of the data, then of the chains; persistent chains start with all hidden units off
};

Json train(const Json& request) {
  const ergodic::Dataset packed = first_rows(request.at("data"), request.at("rows"));
  const Rows data = unpacked(packed.bits());
  Machine machine = first_machine(packed, request);
  Training training(machine, request);
  const std::size_t batch = request.at("batch"), updates_per_epoch = data.count / batch;
  const std::size_t updates = updates_per_epoch * request.at("epochs").get<std::size_t>();
  const std::size_t snapshot_every = request.value("snapshot_every", std::size_t{0});

  Json snapshots = Json::array();
  Stopwatch watch;
  watch.start();
  for (std::size_t u = 0; u < updates; ++u) {
    training.update(data[u % updates_per_epoch * batch]);
    if (snapshot_every == 0 || (u + 1) % snapshot_every != 0) continue;
    watch.stop();
    const std::string path = snapshot_path(request, u + 1);
    machine.save(path);
    snapshots.push_back({{"seconds", watch.seconds()}, {"path", path}});
    watch.start();
  }
  watch.stop();
  if (request.contains("out")) machine.save(request.at("out"));
  return {{"seconds", watch.seconds()}, {"snapshots", snapshots}};
}

double mean(const Rows& rows) {
  double sum = 0.0;
  for (const float x : rows.elements) sum += x;
  return sum / static_cast<double>(rows.elements.size());
}

Json gibbs(const Json& request) {
  const Machine machine = load_machine(request);
  const std::size_t chains = request.at("chains"), sweeps = request.at("sweeps");
  Rows visible = unpacked(first_rows(request.at("data"), chains).bits());
  Rows hidden(chains, machine.hidden());
  Gibbs sampling(machine, chains, request.at("seed"));
  sampling.draw_hidden(visible[0], 1.0f, hidden[0]);

  Stopwatch watch;
  watch.start();
  for (std::size_t s = 0; s < sweeps; ++s) {
    sampling.draw_visible(hidden[0], 1.0f, visible[0]);
    sampling.draw_hidden(visible[0], 1.0f, hidden[0]);
  }
  watch.stop();
  return {{"seconds", watch.seconds()}, {"activity", mean(visible)}};
}

/// log(1 + e^x)
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

/// Annealed importance sampling (Neal 2001; for these machines Salakhutdinov and Murray 2008), from independent units
/// with the biases `base` to the machine, in equal steps of the inverse temperature.
class Annealing {
 public:
  Annealing(const Machine& machine, std::vector<float> base, std::size_t chains, std::uint64_t seed)
      : machine_(machine),
        base_(std::move(base)),
        blended_bias_(machine.visible()),
        hidden_fields_(chains, machine.hidden()),
        visible_fields_(chains, machine.visible()),
        visible_(chains, machine.visible()),
        hidden_(chains, machine.hidden()),
        log_weights_(chains),
        sampler_(seed) {
    for (std::size_t r = 0; r < chains; ++r) draw_visible(r, base_.data());
  }

  void step(double before, double now) {
    const std::size_t chains = visible_.count;
    const float share = static_cast<float>(now);
    machine_.up(visible_[0], chains, 1.0f, hidden_fields_[0]);
    for (std::size_t r = 0; r < chains; ++r) {
      log_weights_[r] += (now - before) * visible_change(r) + draw_hidden(r, static_cast<float>(before), share);
    }
    machine_.down(hidden_[0], chains, share, visible_fields_[0]);
    for (std::size_t i = 0; i < base_.size(); ++i) {
      blended_bias_[i] = share * machine_.visible_bias[i] + (1.0f - share) * base_[i];
    }
    for (std::size_t r = 0; r < chains; ++r) draw_visible(r, blended_bias_.data());
  }

  double log_z() const {
    double out = static_cast<double>(machine_.hidden()) * std::log(2.0);
    for (const float bias : base_) out += softplus(bias);
    const double largest = *std::max_element(log_weights_.begin(), log_weights_.end());
    double sum = 0.0;
    for (const double w : log_weights_) sum += std::exp(w - largest);
    return out + largest + std::log(sum / static_cast<double>(log_weights_.size()));
  }

 private:
  void draw_visible(std::size_t r, const float* bias) {
    sampler_.draw(visible_fields_[r], bias, base_.size(), 1.0f, visible_[r]);
  }

  /// (b - base)'x
  double visible_change(std::size_t r) const {
    float sum = 0.0f;
    for (std::size_t i = 0; i < base_.size(); ++i) sum += (machine_.visible_bias[i] - base_[i]) * visible_[r][i];
    return double{sum};
  }

  /// Draws the hidden units of chain r at the new temperature, and returns the growth of sum_j log(1 + e^(beta I_j)).
  /// log(1 + e^z) = max(z, 0) + log(1 + e^-|z|); the second terms of 64 vectors are multiplied before one logarithm,
  /// and stay below 2^64.
  double draw_hidden(std::size_t r, float before, float now) {
    Floats linear{}, grown = splat(1.0f), shrunk = splat(1.0f);
    std::size_t in_product = 0;
    double out = 0.0;
    const auto flush = [&] {
      for (std::size_t lane = 0; lane < kLanes; ++lane) out += std::log(double{grown[lane]} / double{shrunk[lane]});
      grown = shrunk = splat(1.0f);
      in_product = 0;
    };
    for_vectors(machine_.hidden(), [&](std::size_t c, std::size_t lanes) {
      const Floats field = load(hidden_fields_[r] + c, lanes) + load(machine_.hidden_bias.data() + c, lanes);
      const Floats tail_before = exp_of_negative(-magnitude(field * before));
      const Floats tail_now = exp_of_negative(-magnitude(field * now));
      linear += field > 0.0f ? field * (now - before) : Floats{};
      grown *= tail_now + 1.0f;
      shrunk *= tail_before + 1.0f;
      store(hidden_[r] + c, sampler_.coin(field, tail_now, 1.0f), lanes);
      if (++in_product == 64) flush();
    });
    flush();
    for (std::size_t lane = 0; lane < kLanes; ++lane) out += double{linear[lane]};
    return out;
  }

  const Machine& machine_;
  std::vector<float> base_, blended_bias_;
  Rows hidden_fields_, visible_fields_, visible_, hidden_;
  std::vector<double> log_weights_;
  Sampler sampler_;
};

Json ais(const Json& request) {
  const Machine machine = load_machine(request);
  const std::size_t temperatures = request.at("temperatures");
  Annealing annealing(machine, read_floats(request.at("base")), request.at("chains"), request.at("seed"));
  const auto beta = [&](std::size_t k) { return static_cast<double>(k) / static_cast<double>(temperatures); };
  Stopwatch watch;
  watch.start();
  for (std::size_t k = 1; k <= temperatures; ++k) annealing.step(beta(k - 1), beta(k));
  watch.stop();
  return {{"seconds", watch.seconds()}, {"log_z", annealing.log_z()}};
}

/// Calls of f in a second: the best of some tries, because an interruption makes a try too slow and nothing too fast.
template <class F>
double rate_of(const F& f) {
  constexpr int kTries = 10;
  double best = 0.0;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    Stopwatch watch;
    std::size_t calls = 0;
    for (; watch.seconds() < 0.01; ++calls) {
      watch.start();
      f();
      watch.stop();
    }
    best = std::max(best, static_cast<double>(calls) / watch.seconds());
  }
  return best;
}

/// Multiply-adds in a second by a loop that does nothing else.
double fma_peak() {
  constexpr std::size_t kChains = 12, kRounds = 100'000;  // enough chains to hide the latency, few enough to fit
  Floats sums[kChains] = {}, factor = splat(0.5f), addend = splat(1.0f);
  asm volatile("" : "+m"(factor), "+m"(addend));
  const double rate = rate_of([&] {
    for (std::size_t round = 0; round < kRounds; ++round) {
      for (Floats& sum : sums) sum = sum * factor + addend;
    }
    for (Floats& sum : sums) asm volatile("" : "+m"(sum));
  });
  return static_cast<double>(kRounds * kChains * kLanes) * rate;
}

/// Multiply-adds in a second of each product of training alone, and the most that this core can do.
Json products(const Json& request) {
  const std::size_t batch = request.at("batch");
  const ergodic::Dataset data = first_rows(request.at("data"), batch);
  Machine machine = first_machine(data, request);
  const Rows batch_visible = unpacked(data.bits());
  Rows visible(2 * batch, machine.visible()), hidden(2 * batch, machine.hidden());
  const double mac = static_cast<double>(batch * machine.visible() * machine.hidden());
  const double up = rate_of([&] { machine.up(batch_visible[0], batch, 1.0f, hidden[0]); });
  const double down = rate_of([&] { machine.down(hidden[0], batch, 1.0f, visible[0]); });
  const double statistics = rate_of([&] { machine.add_outer(visible[0], hidden[0], 2 * batch, 1e-9f); });
  return {{"peak", fma_peak()}, {"up", mac * up}, {"down", mac * down}, {"statistics", 2 * mac * statistics}};
}

/// A product of floats, again and again.
Json product(const Json& request) {
  const ProductFactors f(request);
  ergodic::Matrix<float> out(f.left, f.right);
  Stopwatch watch;
  watch.start();
  for (std::size_t k = 0; k < f.times; ++k) {
    multiply(f.a_turned ? CblasTrans : CblasNoTrans, f.b_turned ? CblasTrans : CblasNoTrans, f.left, f.right, f.inner,
             1.0f, f.a.data(), f.a.cols(), f.b.data(), f.b.cols(), 1.0f, out.data());
  }
  watch.stop();
  return {{"seconds", watch.seconds()}, {"sum", f.sum(out)}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t threads = threads_from(argc, argv);
  openblas_set_num_threads(static_cast<int>(threads));
  return serve("sgemm", openblas_get_config(), threads,
               {{"train", train}, {"gibbs", gibbs}, {"ais", ais}, {"product", product}, {"products", products}});
}
