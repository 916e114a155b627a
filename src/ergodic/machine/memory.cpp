#include "ergodic/machine/memory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "ergodic/model/boltzmann.hpp"

namespace ergodic {
namespace {

constexpr double kWorthSaying = 100e6;
constexpr double kProgram = 10e6;
// A weight is held as it is, transposed, rounded to 16 bits in both directions, and with its velocity. While a
// checkpoint is written there are a copy of the velocity, both as tensors, and both as the bytes of the file. Where
// steps go by sums in double these take 16 bytes, but not at the same time.
constexpr double kBytesOfWeight = (4 + 4 + 2 + 2 + 4) + (4 + 8 + 8);
// Learning of p(y | x) has its gradient in float and in double, a velocity of its own and the best parameters that
// there were. The last two are saved too. Alone it is without the velocity of p(x, y), which would be saved.
constexpr double kBytesOfPosterior = (4 + 8 + 4 + 4) + 2 * (4 + 4 + 4), kBytesOfVelocity = 4 + (4 + 4 + 4);
// A coupling has its gradient in double besides; matrices and lists are counted apart.
constexpr double kBytesOfCoupling = (4 + 8 + 4) + (4 + 8 + 8);
// A parameter of a network is held as it is and as the best that there was, besides what the optimiser keeps. While a
// checkpoint is written all of them are there as tensors and as the bytes of the file too, and the state of the learner
// as a copy.
constexpr double kBytesOfParameter = (4 + 4) + (4 + 8 + 8), kBytesOfKept = 4 + (4 + 4 + 4);
// A stack of layers has its parameters in one buffer besides. Recognition weights of their own have no velocity.
constexpr double kBytesOfStackedWeight = kBytesOfWeight + 4, kBytesOfRecognition = (4 + 4 + 2 + 2) + (4 + 4 + 4);
// A machine that waits is held, and saved.
constexpr double kBytesOfWaiting = (4 + 4 + 2 + 2) + (4 + 4);
// Draws that rows keep are held as they are. While a checkpoint is written there are a copy, a tensor and the file.
constexpr double kCopiesOfDraws = 4;
constexpr double kBytesOfValue = 16;  // of a real unit of a chain: its state, moments and field

double bytes_of_state(const Layer& layer) {
  const auto units = static_cast<double>(units_of(layer));
  return real_valued(layer) ? kBytesOfValue * units : units / 8.0;
}

double bytes_of_data(const Dataset& data) {
  return static_cast<double>(data.bytes().size() + data.known.words().size_bytes());
}

double bytes_of_weight(Objective objective) {
  return kBytesOfWeight + (objective == Objective::kGenerative ? 0.0 : kBytesOfPosterior) -
         (objective == Objective::kDiscriminative ? kBytesOfVelocity : 0.0);
}

/// Of the weights of layers each of which is coupled with the next.
double bytes_of_stack(const std::vector<Layer>& layers, bool untied) {
  double out = 0.0;
  for (std::size_t k = 0; k + 1 < layers.size(); ++k) {
    const double weights = static_cast<double>(units_of(layers[k])) * static_cast<double>(units_of(layers[k + 1]));
    const bool directed = k + 2 < layers.size();
    out += weights * (kBytesOfStackedWeight + (untied && directed ? kBytesOfRecognition : 0.0));
  }
  return out;
}

/// "620 MB", of two digits.
std::string text_of_bytes(double bytes) {
  const double step = std::pow(10.0, std::floor(std::log10(bytes)) - 1.0);
  const double rounded = std::round(bytes / step) * step;
  return fmt::format("{:.{}f} {}", rounded / (rounded < 1e9 ? 1e6 : 1e9), rounded < 1e9 || rounded >= 1e10 ? 0 : 1,
                     rounded < 1e9 ? "MB" : "GB");
}

std::string weights_text(const TrainingSize& size, double bytes) {
  return fmt::format("{} x {} weights: about {}", units_of(size.visible), units_of(size.hidden), text_of_bytes(bytes));
}

}  // namespace

double bytes_for_training(const TrainingSize& size) {
  const double weights = static_cast<double>(units_of(size.visible)) * static_cast<double>(units_of(size.hidden));
  constexpr double states = 2.0 * static_cast<double>(TrainDefaults{}.batch);  // chains, and rows of a batch
  return kProgram + weights * bytes_of_weight(size.objective) +
         states * (bytes_of_state(size.visible) + bytes_of_state(size.hidden)) + bytes_of_data(*size.data);
}

double bytes_for_training(const ClassifierSize& size) {
  double parameters = 0.0, all = 0.0;
  for (std::size_t k = 0; k < size.layers.size(); ++k) {
    const auto units = static_cast<double>(size.layers[k]);
    all += units;
    if (k > 0) parameters += (static_cast<double>(size.layers[k - 1]) + 1.0) * units;
  }
  // Values and derivatives of what is on its way through the network.
  const double passes = 8.0 * all * static_cast<double>(size.rows_under_way);
  const double tuning = parameters * (kBytesOfParameter + kBytesOfKept * static_cast<double>(size.kept)) + passes;
  // Pre-training has a copy of the rows.
  const double rows = bytes_of_data(*size.data);
  const double before = size.pretrained && size.layers.size() > 2 ? kBytesOfStackedWeight * parameters + rows : 0.0;
  return kProgram + rows + std::max(tuning, before);
}

std::string memory_text(const TrainingSize& size) { return weights_text(size, bytes_for_training(size)); }

void announce_memory(const TrainingSize& size, const Context& context) {
  if (bytes_for_training(size) > kWorthSaying) context.note(memory_text(size));
}

void announce_memory(const ClassifierSize& size, const Context& context) {
  const double bytes = bytes_for_training(size);
  if (bytes <= kWorthSaying) return;
  context.note(fmt::format("a network of {} units: about {}", fmt::join(size.layers, ", "), text_of_bytes(bytes)));
}

void announce_memory(const std::vector<Layer>& layers, bool untied, const Dataset& data, const Context& context) {
  const double bytes = kProgram + bytes_of_data(data) + bytes_of_stack(layers, untied);
  std::vector<std::size_t> sizes;
  for (const Layer& layer : layers) sizes.push_back(units_of(layer));
  if (bytes > kWorthSaying)
    context.note(fmt::format("{} weights: about {}", fmt::join(sizes, " x "), text_of_bytes(bytes)));
}

void announce_memory(const TrainingSize& size, const std::vector<Layer>& by_layer, const Context& context) {
  const double draws = kCopiesOfDraws * static_cast<double>(size.data->rows()) * bytes_of_state(size.visible);
  const double together = bytes_for_training(size) + draws;
  // While single layers learn, the machine waits for them.
  const double waiting =
      kBytesOfWaiting * static_cast<double>(units_of(size.visible)) * static_cast<double>(units_of(size.hidden));
  const double one_by_one = kProgram + bytes_of_data(*size.data) + waiting + bytes_of_stack(by_layer, false);
  const double bytes = by_layer.empty() ? together : std::max(together, one_by_one);
  if (bytes > kWorthSaying) context.note(weights_text(size, bytes));
}

void announce_memory(const Graph& graph, const Layer& units, const Dataset& data, const Context& context) {
  const auto edges = static_cast<double>(graph.edges());
  const double lists = graph.dense()
                           ? static_cast<double>(memory_of_dense(units_of(units), letters_of(units)).matrix_bytes)
                           : edges * Graph::kBytesPerEdge;
  const double bytes = kProgram + edges * kBytesOfCoupling + lists + bytes_of_data(data);
  if (bytes > kWorthSaying)
    context.note(
        fmt::format("{} couplings of {} units: about {}", graph.edges(), units_of(units), text_of_bytes(bytes)));
}

}  // namespace ergodic
