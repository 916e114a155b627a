#include "ergodic/data/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>

#include "ergodic/core/aligned.hpp"
#include "ergodic/core/permutation.hpp"
#include "ergodic/format/csv.hpp"

namespace ergodic {

std::span<const std::byte> Dataset::bytes() const {
  if (const auto* bits = std::get_if<Bits>(&values)) return std::as_bytes(bits->words());
  return real() ? std::as_bytes(reals().elements()) : std::as_bytes(grey().elements());
}

std::size_t Dataset::classes() const {
  const int largest = labels.empty() ? -1 : std::ranges::max(labels);
  return std::max(classes_of_all, largest < 0 ? 0 : static_cast<std::size_t>(largest) + 1);
}

std::string Dataset::column_text(std::size_t column) const {
  const bool named = column < unit_names.size() && !unit_names[column].empty();
  return named ? fmt::format("column \"{}\"", name_text(unit_names[column])) : fmt::format("column {}", column + 1);
}

std::size_t Dataset::missing() const {
  if (complete()) return 0;
  std::size_t on = 0;
  for (const std::uint64_t word : known.words()) on += static_cast<std::size_t>(std::popcount(word));
  return (rows() * units() - on) / std::max<std::size_t>(letters, 1);
}

void Dataset::set_missing(std::size_t row, std::size_t value) {
  if (complete()) {
    known = Bits(rows(), units());
    for (std::size_t r = 0; r < rows(); ++r) {
      for (std::size_t i = 0; i < units(); ++i) known.set(r, i, true);
    }
  }
  const std::size_t width = std::max<std::size_t>(letters, 1);
  for (std::size_t i = value * width; i < (value + 1) * width; ++i) known.set(row, i, false);
}

double Dataset::effective_rows() const {
  if (weights.empty()) return static_cast<double>(rows());
  return std::accumulate(weights.begin(), weights.end(), 0.0);
}

void draw_bits(std::span<const Grey> grey, const Draw& draw, std::uint32_t row, std::span<std::uint64_t> out) {
  std::fill(out.begin(), out.end(), 0);
  Words random{};
  for (std::uint32_t i = 0; i < grey.size(); ++i) {
    if (i % 4 == 0) random = draw.words(row, i / 4);
    const bool on = std::uint64_t{random[i % 4]} * kFullGrey < (std::uint64_t{grey[i]} << 32);
    out[i / Bits::kWordBits] |= std::uint64_t{on} << (i % Bits::kWordBits);
  }
}

Values gather(const Dataset& data, std::span<const std::uint32_t> rows, Key key, std::uint64_t epoch) {
  if (data.real()) {
    Matrix<float> out(rows.size(), data.units());
    gather(data, rows, out);
    return out;
  }
  Bits out(rows.size(), data.units());
  gather(data, rows, key, epoch, out, Context{});
  return out;
}

namespace {

/// Brings a row on its way into the cache.
template <class T>
void prefetch(std::span<const T> row) {
  for (std::size_t k = 0; k < row.size(); k += kCacheLine / sizeof(T)) __builtin_prefetch(&row[k]);
  if (!row.empty()) __builtin_prefetch(&row.back());
}

}  // namespace

void gather(const Dataset& data, std::span<const std::uint32_t> rows, Key key, std::uint64_t epoch, Bits& out,
            const Context& context) {
  assert(out.rows() == rows.size() && out.cols() == data.units());
  constexpr std::size_t kRowsAtATime = 64;
  const Draw draw = key.at(Purpose::kBinarise, epoch);
  context.for_blocks(rows.size(), kRowsAtATime, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      if (data.dynamic()) {
        draw_bits(data.grey().row(rows[r]), draw, rows[r], out.row(r));
      } else {
        // Rows lie far apart: some are on their way into the cache while others are copied.
        constexpr std::size_t kAhead = 16;
        if (r + kAhead < rows.size()) prefetch(data.bits().row(rows[r + kAhead]));
        const auto from = data.bits().row(rows[r]);
        std::copy(from.begin(), from.end(), out.row(r).begin());
      }
    }
  });
}

void gather(const Dataset& data, std::span<const std::uint32_t> rows, Matrix<float>& out) {
  assert(out.rows() == rows.size() && out.cols() == data.units());
  constexpr std::size_t kAhead = 2;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (r + kAhead < rows.size()) prefetch(data.reals().row(rows[r + kAhead]));
    const auto from = data.reals().row(rows[r]);
    std::copy(from.begin(), from.end(), out.row(r).begin());
  }
}

void gather_known(const Dataset& data, std::span<const std::uint32_t> rows, Bits& out) {
  assert(out.rows() == rows.size() && out.cols() == data.units());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (data.complete()) {
      for (std::size_t i = 0; i < data.units(); ++i) out.set(r, i, true);
    } else {
      std::ranges::copy(data.known.row(rows[r]), out.row(r).begin());
    }
  }
}

namespace {

DataValues chosen(const Dataset& data, std::span<const std::uint32_t> rows) {
  if (data.dynamic()) {
    Matrix<Grey> out(rows.size(), data.units());
    for (std::size_t r = 0; r < rows.size(); ++r) std::ranges::copy(data.grey().row(rows[r]), out.row(r).begin());
    return out;
  }
  return std::visit([](auto&& values) { return DataValues(std::move(values)); }, gather(data, rows, Key{}, 0));
}

}  // namespace

Dataset select(const Dataset& data, std::span<const std::uint32_t> rows) {
  Dataset out{data.name, chosen(data, rows), data.shape, {}, data.letters};
  if (!data.labels.empty()) {
    for (const std::uint32_t r : rows) out.labels.push_back(data.labels[r]);
    out.classes_of_all = data.classes();
  }
  if (!data.weights.empty()) {
    for (const std::uint32_t r : rows) out.weights.push_back(data.weights[r]);
  }
  if (!data.complete()) {
    out.known = Bits(rows.size(), data.units());
    gather_known(data, rows, out.known);
    if (out.missing() == 0) out.known = {};
  }
  out.unit_names = data.unit_names;
  out.class_names = data.class_names;
  out.alphabet = data.alphabet;
  return out;
}

Dataset split_off(Dataset& data, std::size_t count, const Draw& draw) {
  assert(count <= data.rows());
  std::vector<std::uint32_t> order = permutation(data.rows(), draw);
  const auto cut = order.begin() + static_cast<std::ptrdiff_t>(count);
  std::sort(order.begin(), cut);
  std::sort(cut, order.end());
  const std::span<const std::uint32_t> all(order);
  Dataset taken = select(data, all.first(count));
  data = select(data, all.subspan(count));
  return taken;
}

}  // namespace ergodic
