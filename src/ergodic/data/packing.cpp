#include "ergodic/data/packing.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

constexpr std::size_t kMostLetters = 1000;

/// Calls f(row, its numbers) for each row.
template <class F>
void for_each_row(const RowsOf& what, const F& f) {
  std::vector<double> numbers(what.units);
  for (std::size_t r = 0; r < what.rows; ++r) {
    what.read(r, numbers);
    f(r, std::span<const double>(numbers));
  }
}

/// How many letters there are; `letters` is how many there may be, or 0.
std::size_t count_letters(const RowsOf& what, std::size_t letters) {
  const std::size_t most = letters > 0 ? letters : kMostLetters;
  std::size_t largest = 0;
  for_each_row(what, [&](std::size_t r, std::span<const double> row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const double value = row[i];
      if (std::isnan(value)) continue;
      if (!(value >= 0.0 && value == std::floor(value) && value < static_cast<double>(most))) {
        throw DataError(fmt::format(
            "{}: row {}, column {} (counted from 0): expected a letter as a whole number from 0 to {}, found {}{}",
            what.name, r, i, most - 1, value,
            value == -1.0 ? "; if it stands for a missing value, say --missing" : ""));
      }
      largest = std::max(largest, static_cast<std::size_t>(value));
    }
  });
  if (letters == 0) letters = largest + 1;
  if (letters < 2) throw DataError(fmt::format("{}: expected at least 2 letters, found only zeros", what.name));
  return letters;
}

}  // namespace

Dataset keep_real(const RowsOf& what) {
  Dataset out{what.name, Matrix<float>(what.rows, what.units), what.shape};
  for_each_row(what, [&](std::size_t r, std::span<const double> row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (std::isnan(row[i])) out.set_missing(r, i);
      out.reals()(r, i) = std::isnan(row[i]) ? 0.0f : static_cast<float>(row[i]);
    }
  });
  return out;
}

Dataset pack_letters(const RowsOf& what, std::size_t letters) {
  letters = count_letters(what, letters);
  Dataset out{what.name, Bits(what.rows, what.units * letters), {what.units, letters}, {}, letters};
  for_each_row(what, [&](std::size_t r, std::span<const double> row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (std::isnan(row[i])) out.set_missing(r, i);
      out.bits().set(r, i * letters + (std::isnan(row[i]) ? 0 : static_cast<std::size_t>(row[i])), true);
    }
  });
  return out;
}

Dataset pack_bits(const RowsOf& what, const ValueOptions& options, std::uint8_t stream) {
  Dataset out{what.name, Bits{}, what.shape};
  const bool keep = options.binarise == Binarise::kDynamic;
  if (keep) {
    out.values = Matrix<Grey>(what.rows, what.units);
  } else {
    out.values = Bits(what.rows, what.units);
  }
  const Draw draw = Key{}.at(Purpose::kBinarise, 0, stream);
  std::vector<Grey> drawn(what.units);
  for_each_row(what, [&](std::size_t r, std::span<const double> row) {
    const std::span<Grey> levels = keep ? out.grey().row(r) : std::span<Grey>(drawn);
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (std::isnan(row[i])) out.set_missing(r, i);
      if (options.binarise == Binarise::kThreshold) {
        out.bits().set(r, i, row[i] >= options.threshold);  // off if it is missing
      } else {
        levels[i] = std::isnan(row[i]) ? Grey{0} : static_cast<Grey>(row[i] * kFullGrey + 0.5);
      }
    }
    if (options.binarise == Binarise::kFixed) draw_bits(levels, draw, static_cast<std::uint32_t>(r), out.bits().row(r));
  });
  return out;
}

Dataset pack(const RowsOf& what, const ValueOptions& options, std::uint8_t stream) {
  if (options.kind == ValueKind::kReal) return keep_real(what);
  return options.kind == ValueKind::kLetters ? pack_letters(what, options.letters) : pack_bits(what, options, stream);
}

}  // namespace ergodic
