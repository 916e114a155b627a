// Dataset: rows of binary data, held packed, or of real numbers. Grey levels are kept only when each epoch binarises
// anew. Categorical data is binary data too: a site with q letters is q bits, of which one is on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ergodic/core/bits.hpp"
#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/core/random.hpp"
#include "ergodic/core/values.hpp"

namespace ergodic {

/// Height and width of a row that is a picture; zero if it is not known to be one.
struct PictureShape {
  std::size_t height = 0;
  std::size_t width = 0;

  bool operator==(const PictureShape&) const = default;
};

/// A grey level: 0 is never on, kFullGrey always. Exact for 8-bit pictures (257 steps each).
using Grey = std::uint16_t;
inline constexpr Grey kFullGrey = 65535;

/// Rows x units: bits, the grey levels from which each epoch draws its bits, or real numbers.
using DataValues = std::variant<Bits, Matrix<Grey>, Matrix<float>>;

struct Dataset {
  std::string name{};
  DataValues values{};
  PictureShape shape{};
  std::vector<int> labels{};  ///< one for each row, -1 for one without; or empty
  std::size_t letters =
      0;  ///< letters of a categorical site: units [s * letters, (s + 1) * letters) are site s; else 0
  std::vector<double> weights{};  ///< how much each row counts, or empty: all the same
  Bits known{};                   ///< rows x units, off where a value is missing; without rows if none is
  std::vector<std::string>
      unit_names{};  ///< of each unit (of each site of letters), as a table's header has them; or empty
  std::vector<std::string> class_names{};  ///< of each label, if labels were words; or empty
  std::size_t classes_of_all = 0;          ///< classes() of the set that this is a part of; 0 if it is the whole
  std::string alphabet{};  ///< the characters of the letters, in order, if they are those of an alignment; or empty

  std::size_t rows() const {
    return std::visit([](const auto& v) { return v.rows(); }, values);
  }
  std::size_t units() const {
    return std::visit([](const auto& v) { return v.cols(); }, values);
  }
  /// One more than the largest label, also where only another part of the same set has it; 0 without labels.
  std::size_t classes() const;
  /// A unit, or a site of letters, in messages: "column 5", counted from 1, or "column \"age\"" if it has a name.
  std::string column_text(std::size_t column) const;
  std::size_t sites() const { return letters > 0 ? units() / letters : 0; }

  bool dynamic() const { return std::holds_alternative<Matrix<Grey>>(values); }
  bool real() const { return std::holds_alternative<Matrix<float>>(values); }
  /// The values of one kind; std::bad_variant_access if they are of another.
  const Bits& bits() const { return std::get<Bits>(values); }
  Bits& bits() { return std::get<Bits>(values); }
  const Matrix<Grey>& grey() const { return std::get<Matrix<Grey>>(values); }
  Matrix<Grey>& grey() { return std::get<Matrix<Grey>>(values); }
  const Matrix<float>& reals() const { return std::get<Matrix<float>>(values); }
  Matrix<float>& reals() { return std::get<Matrix<float>>(values); }
  /// The values as they lie in memory, whatever their kind.
  std::span<const std::byte> bytes() const;

  /// Whether there is a value; one that is missing is held as 0, off, or the first letter.
  bool is_known(std::size_t row, std::size_t unit) const { return known.rows() == 0 || known.get(row, unit); }
  bool complete() const { return known.rows() == 0; }
  /// How many values are missing: of categorical data, sites.
  std::size_t missing() const;
  /// Says that a value is missing: of categorical data, a site.
  void set_missing(std::size_t row, std::size_t value);
  /// The sum of the weights: how many rows these are worth. As many as there are, without weights.
  double effective_rows() const;
};

/// Turns one row of grey levels into bits, each on with the probability that its level says. `out` has
/// words_for(units).
void draw_bits(std::span<const Grey> grey, const Draw& draw, std::uint32_t row, std::span<std::uint64_t> out);

/// The chosen rows, in the given order. Dynamic data is drawn for this epoch.
Values gather(const Dataset& data, std::span<const std::uint32_t> rows, Key key, std::uint64_t epoch);
/// Writes the chosen rows into bits, or into real numbers, that are there already and of the right shape.
void gather(const Dataset& data, std::span<const std::uint32_t> rows, Key key, std::uint64_t epoch, Bits& out,
            const Context& context);
void gather(const Dataset& data, std::span<const std::uint32_t> rows, Matrix<float>& out);
/// Which values of the chosen rows are known.
void gather_known(const Dataset& data, std::span<const std::uint32_t> rows, Bits& out);

/// Dataset of the chosen rows.
Dataset select(const Dataset& data, std::span<const std::uint32_t> rows);

/// Moves `count` randomly chosen rows out of the data set, and returns them.
Dataset split_off(Dataset& data, std::size_t count, const Draw& draw);

}  // namespace ergodic
