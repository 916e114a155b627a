#include "ergodic/data/packing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
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
        throw DataError(fmt::format("{}: {}: expected a letter as a whole number from 0 to {}, found {}{}", what.name,
                                    place_text(r, i, what.columns), most - 1, value,
                                    value == -1.0 ? "; if it stands for a missing value, say --missing" : ""));
      }
      largest = std::max(largest, static_cast<std::size_t>(value));
    }
  });
  if (letters == 0) letters = largest + 1;
  if (letters < 2) throw DataError(fmt::format("{}: expected at least 2 letters, found only zeros", what.name));
  return letters;
}

/// The most probable letter, the first of equals; none if any is not known.
std::optional<std::size_t> most_probable(std::span<const double> site) {
  std::size_t best = 0;
  for (std::size_t a = 0; a < site.size(); ++a) {
    if (std::isnan(site[a])) return std::nullopt;
    if (site[a] > site[best]) best = a;
  }
  return best;
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

Dataset pack_probabilities(const RowsOf& what, std::size_t letters) {
  constexpr double kRounding = 1e-3;  // of probabilities written with a few digits
  const std::size_t sites = what.units / letters;
  Dataset out{what.name, Bits(what.rows, what.units), {sites, letters}, {}, letters};
  for_each_row(what, [&](std::size_t r, std::span<const double> row) {
    for (std::size_t s = 0; s < sites; ++s) {
      const std::span<const double> site = row.subspan(s * letters, letters);
      const std::optional<std::size_t> letter = most_probable(site);
      if (!letter) out.set_missing(r, s);
      out.bits().set(r, s * letters + letter.value_or(0), true);
      const double sum = std::accumulate(site.begin(), site.end(), 0.0);
      if (!letter || (std::abs(sum - 1.0) <= kRounding && std::ranges::min(site) >= 0.0)) continue;
      throw DataError(fmt::format(
          "{}: row {}, columns {} to {}: expected the probabilities of {} letters, or a 1 among zeros; found numbers "
          "that add up to {:g}",
          what.name, r + 1, s * letters + 1, (s + 1) * letters, letters, sum));
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
  if (options.kind != ValueKind::kLetters) return pack_bits(what, options, stream);
  const bool one_hot = options.letters > 0 && what.units == options.units;
  return one_hot ? pack_probabilities(what, options.letters) : pack_letters(what, options.letters);
}

}  // namespace ergodic
