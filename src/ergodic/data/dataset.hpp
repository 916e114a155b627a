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
  std::vector<int> labels{};      ///< one for each row, or empty
  std::size_t letters = 0;        ///< of a categorical site: units [s * letters, (s + 1) * letters) are site s; else 0
  std::vector<double> weights{};  ///< how much each row counts, or empty: all the same
  Bits known{};                   ///< rows x units, off where a value is missing; without rows if none is

  std::size_t rows() const {
    return std::visit([](const auto& v) { return v.rows(); }, values);
  }
  std::size_t units() const {
    return std::visit([](const auto& v) { return v.cols(); }, values);
  }
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
/// The same into bits, or into real numbers, that are there already and of the right shape.
void gather(const Dataset& data, std::span<const std::uint32_t> rows, Key key, std::uint64_t epoch, Bits& out,
            const Context& context);
void gather(const Dataset& data, std::span<const std::uint32_t> rows, Matrix<float>& out);
/// Which of their values are known.
void gather_known(const Dataset& data, std::span<const std::uint32_t> rows, Bits& out);

/// Dataset of the chosen rows.
Dataset select(const Dataset& data, std::span<const std::uint32_t> rows);

/// The mean of each unit over all rows in which it is known (of each bit, of each grey level for dynamic data), by the
/// weights of the rows if they have any. DataError names a unit that is not known in any row.
std::vector<double> unit_means(const Dataset& data);
/// The standard deviation of each unit of real data over the rows in which it is known. One that hardly changes is
/// given a tenth of the root mean square of all: no precision would be large enough for a constant.
std::vector<double> unit_deviations(const Dataset& data);
/// The kurtosis of each unit of real data, in terms of these deviations: 3 if it is normal, large if it is mostly near
/// its mean and seldom far out.
std::vector<double> unit_kurtoses(const Dataset& data, std::span<const double> deviations);
/// Directions along which data varies most, orthonormal, a row each, and the variances along them, the largest first.
struct Leading {
  Matrix<double> directions;
  std::vector<double> variances;
};
/// Those of real data in units of these deviations, at most so many, from at most a thousand rows; the later ones are
/// approximate. If all units are independent variances are 1, if all are the same, the first is the number of units.
/// With missing values an upper estimate: each known value stands for those that are missing from its unit.
Leading leading_directions(const Dataset& data, std::span<const double> deviations, std::size_t count);

/// All of [0, count) in random order: a pure function of the draw.
std::vector<std::uint32_t> permutation(std::size_t count, const Draw& draw);

/// Moves `count` randomly chosen rows out of the data set, and returns them.
Dataset split_off(Dataset& data, std::size_t count, const Draw& draw);

/// The rows of each update, a pure function of (key, update). Every epoch goes through all rows once, in a new order;
/// the last batch of an epoch has what is left. With weights an epoch is as long, and has each row as often as its
/// weight says, rounded up or down at random: the mean over an epoch is nearly the weighted mean, and so it is on
/// average over a batch.
class Minibatches {
 public:
  /// One weight for each row, none negative and not all zero; or no weights.
  Minibatches(std::size_t rows, std::size_t batch, Key key, std::span<const double> weights = {});

  std::uint64_t per_epoch() const { return (rows_ + batch_ - 1) / batch_; }
  std::uint64_t epoch_of(std::uint64_t update) const { return update / per_epoch(); }
  std::span<const std::uint32_t> at(std::uint64_t update);

 private:
  std::vector<std::uint32_t> order_of(std::uint64_t epoch) const;

  std::size_t rows_;
  std::size_t batch_;
  Key key_;
  std::vector<double> cumulative_;    // weights of the rows up to each, or empty
  std::vector<std::uint32_t> order_;  // of the epoch last asked for
  std::uint64_t order_epoch_ = ~std::uint64_t{0};
};

}  // namespace ergodic
