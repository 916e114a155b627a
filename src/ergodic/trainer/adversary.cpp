#include "ergodic/trainer/adversary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ergodic/trainer/class_scores.hpp"

namespace ergodic {
namespace {

constexpr double kCloseBy = 0.1;  // how far away the direction is sought, as a share of the whole way
constexpr std::size_t kRowsAtATime = 4;
constexpr std::size_t kSignsOfWords = 128;
constexpr std::uint8_t kStream = 1;  // of dropout: stream 0 leaves units out

/// to = from + length * direction, the direction being that of random signs.
void move_at_random(const Draw& draw, std::size_t row, double length, std::span<const float> from,
                    std::span<float> to) {
  const auto step = static_cast<float>(length / std::sqrt(static_cast<double>(from.size())));
  Words words{};
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::size_t at = i % kSignsOfWords;
    if (at == 0) {  // the first words have chosen the row
      words = draw.words(static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(1 + i / kSignsOfWords));
    }
    to[i] = from[i] + ((words[at / 32] >> at % 32 & 1u) != 0 ? step : -step);
  }
}

/// Makes room for so many rows.
void fit_rows(const Network& network, std::size_t rows, Network::Pass& pass, Matrix<float>& slopes) {
  if (slopes.rows() == rows) return;
  pass = network.make_pass(rows);
  slopes = Matrix<float>(rows, network.inputs());
}

template <class Body>
void for_rows(std::size_t count, const Context& context, const Body& body) {
  context.for_blocks(count, kRowsAtATime, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) body(r);
  });
}

}  // namespace

Reach::Reach(const Dataset& data, std::size_t inputs, double share) {
  double square = 0.0;
  for (const float deviation : input_deviations(data, inputs)) square += double{deviation} * double{deviation};
  length_ = share * std::sqrt(square);
}

void Reach::move(MatrixView<const float> slopes, MatrixView<float> inputs, const Context& context) const {
  for_rows(inputs.rows(), context, [&](std::size_t r) {
    const std::span<const float> slope = slopes.row(r);
    double square = 0.0;
    for (const float s : slope) square += double{s} * double{s};
    // Where the network is sure beyond what a float can say, there is no direction: the row stays.
    const double exact_scale = length_ / std::sqrt(square);
    if (!(exact_scale < std::numeric_limits<float>::max())) return;
    const auto scale = static_cast<float>(exact_scale);
    const std::span<float> row = inputs.row(r);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] -= scale * slope[i];
  });
}

SignedReach::SignedReach(const Dataset& data, std::size_t inputs, double deviations)
    : reach_(input_deviations(data, inputs)) {
  for (float& reach : reach_) reach *= static_cast<float>(deviations);
}

void SignedReach::move(MatrixView<const float> slopes, MatrixView<float> inputs, const Context& context) const {
  for_rows(inputs.rows(), context, [&](std::size_t r) {
    const std::span<const float> slope = slopes.row(r);
    const std::span<float> row = inputs.row(r);
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] -= slope[i] > 0.0f ? reach_[i] : slope[i] < 0.0f ? -reach_[i] : 0.0f;
    }
  });
}

void Adversary::move(const Network& network, const Dropping& dropping, MatrixView<const float> targets,
                     MatrixView<float> inputs, const Context& context) {
  fit_rows(network, inputs.rows(), pass_, slopes_);
  std::ranges::copy(inputs.elements(), pass_.values[0].data());
  network.forward(pass_, dropping.share, dropping.draw, context);
  network.backward(pass_, targets, dropping.share, context);
  network.find_input_gradient(pass_, slopes_, context);
  reach_.move(slopes_, inputs, context);
}

void VirtualAdversary::find(const Network& network, const Dropping& dropping, std::uint64_t update,
                            MatrixView<float> inputs, MatrixView<float> probabilities, const Context& context) {
  const std::size_t count = inputs.rows();
  fit_rows(network, count, pass_, slopes_);
  rows_.resize(count);
  const Draw draw = key_.at(Purpose::kDropout, update, kStream);
  for (std::size_t r = 0; r < count; ++r) {
    rows_[r] = static_cast<std::uint32_t>(draw.below(data_.rows(), static_cast<std::uint32_t>(r), 0));
  }
  gather_inputs(data_, rows_, inputs, context);
  Matrix<float>& moved = pass_.values[0];
  std::ranges::copy(inputs.elements(), moved.data());
  network.forward(pass_, dropping.share, dropping.draw, context);
  std::ranges::copy(std::as_const(pass_.values.back()).elements(), probabilities.elements().begin());
  for_rows(count, context,
           [&](std::size_t r) { move_at_random(draw, r, kCloseBy * reach_.length(), inputs.row(r), moved.row(r)); });
  network.forward(pass_, dropping.share, dropping.draw, context);
  network.backward(pass_, probabilities, dropping.share, context);
  network.find_input_gradient(pass_, slopes_, context);
  reach_.move(slopes_, inputs, context);
}

}  // namespace ergodic
