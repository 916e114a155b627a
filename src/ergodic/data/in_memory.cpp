#include "ergodic/data/in_memory.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/data/packing.hpp"

namespace ergodic {
namespace {

/// Calls f(a zero of the type).
template <class F>
auto with_type(ElementType type, const F& f) {
  switch (type) {
    case ElementType::kBool:
    case ElementType::kUInt8:
      return f(std::uint8_t{});
    case ElementType::kInt8:
      return f(std::int8_t{});
    case ElementType::kUInt16:
      return f(std::uint16_t{});
    case ElementType::kInt16:
      return f(std::int16_t{});
    case ElementType::kUInt32:
      return f(std::uint32_t{});
    case ElementType::kInt32:
      return f(std::int32_t{});
    case ElementType::kUInt64:
      return f(std::uint64_t{});
    case ElementType::kInt64:
      return f(std::int64_t{});
    case ElementType::kFloat32:
      return f(float{});
    case ElementType::kFloat64:
      return f(double{});
  }
  throw std::logic_error("unknown element type");
}

template <class T>
double element(const ArrayView& view, std::size_t row, std::size_t col) {
  T value;
  std::memcpy(&value,
              view.data + static_cast<std::ptrdiff_t>(row) * view.row_stride +
                  static_cast<std::ptrdiff_t>(col) * view.col_stride,
              sizeof(value));
  return static_cast<double>(value);
}

/// How numbers of an array are scaled before they are judged: to x / divisor, or from [-1, 1] to (x + 1) / 2.
struct Scale {
  double divisor = 1.0;
  bool signs = false;

  double operator()(double x) const { return signs ? 0.5 * (x + 1.0) : x / divisor; }
};

/// Whether f(value) holds for any element.
template <class T, class F>
bool any_element(const ArrayView& view, const F& f) {
  for (std::size_t r = 0; r < view.rows; ++r) {
    for (std::size_t i = 0; i < view.cols; ++i) {
      if (f(element<T>(view, r, i))) return true;
    }
  }
  return false;
}

/// 8-bit values beyond 1 are grey levels of 255 steps. Negative ones are those of units that are -1 or 1: for bits,
/// only if all are one of these. All else must lie in [0, 1] as it is.
template <class T>
Scale scale_of(const ArrayView& view, ValueKind kind) {
  if (kind == ValueKind::kLetters) return {};
  if (view.type == ElementType::kUInt8) {
    return {any_element<T>(view, [](double x) { return x > 1.0; }) ? 255.0 : 1.0};
  }
  if (kind == ValueKind::kReal || std::is_unsigned_v<T>) return {};
  const bool others =
      kind == ValueKind::kBits && any_element<T>(view, [](double x) { return !std::isnan(x) && std::abs(x) != 1.0; });
  return {1.0, !others && any_element<T>(view, [](double x) { return x < 0.0; })};
}

constexpr double kLargestReal = 1e15;  // sums of squares of such numbers are still floats

/// Where a number stands, and what it is to be.
struct Wanted {
  const RowNotes& notes;
  ValueKind kind;
  bool missing = false;
  bool signs = false;  ///< numbers were given in [-1, 1]
};

[[noreturn]] void refuse(const Wanted& wanted, std::size_t row, std::size_t column, const std::string& expected,
                         double found) {
  std::string advice = "scale the data first";
  if (wanted.kind == ValueKind::kBits || wanted.kind == ValueKind::kSpins) {
    advice +=
        ", or take visible units with such values (--visible-type gaussian, or potts for whole numbers from 0 up)";
  }
  if (std::isnan(found)) advice = "if it stands for a missing value, say --missing where the command takes it";
  throw DataError(fmt::format("{}: {}: expected {}, found {}; {}", wanted.notes.name,
                              place_text(row, column, wanted.notes.columns), expected, found, advice));
}

/// Refuses a number that machines of this kind do not take; `found` is it as it was given. Letters are judged when they
/// are counted.
void check(const Wanted& wanted, std::size_t row, std::size_t column, double value, double found) {
  if (std::isnan(value) && wanted.missing) return;
  switch (wanted.kind) {
    case ValueKind::kBits:
    case ValueKind::kSpins:
      if (value >= 0.0 && value <= 1.0) break;
      refuse(wanted, row, column, wanted.signs ? "a value in [-1, 1]" : "a value in [0, 1]", found);
    case ValueKind::kReal:
      if (!(std::abs(value) <= kLargestReal)) {
        refuse(wanted, row, column, fmt::format("a number from -{:g} to {:g}", kLargestReal, kLargestReal), found);
      }
      break;
    case ValueKind::kLetters:
      if (std::isnan(value)) refuse(wanted, row, column, "a letter as a whole number", found);
  }
}

void check_notes(const RowNotes& notes, std::size_t rows, std::size_t cols) {
  if (rows == 0 || cols == 0) throw DataError(fmt::format("{}: the data set is empty", notes.name));
  const auto [height, width] = notes.shape;
  require(notes.shape == PictureShape{} || height * width == cols,
          fmt::format("{}: rows of {} values are no pictures of {} x {}", notes.name, cols, height, width));
}

/// The data with its labels and the names of its units, or sites.
Dataset with_notes(Dataset data, const RowNotes& notes) {
  if (!notes.labels.empty()) set_labels(data, notes.labels, notes.name);
  if (notes.unit_names.size() == (data.letters > 0 ? data.sites() : data.units())) data.unit_names = notes.unit_names;
  return data;
}

}  // namespace

std::string place_text(std::size_t row, std::size_t column, std::span<const std::string> columns) {
  return fmt::format("row {}, column {}", row + 1, columns.empty() ? std::to_string(column + 1) : columns[column]);
}

ArrayView rows_view(ElementType type, const void* data, std::size_t rows, std::size_t cols) {
  const auto size = static_cast<std::ptrdiff_t>(size_of(type));
  return {type, static_cast<const std::byte*>(data), rows, cols, static_cast<std::ptrdiff_t>(cols) * size, size};
}

Dataset dataset_of(const ArrayView& values, const RowNotes& notes, const ValueOptions& options, std::uint8_t stream) {
  check_notes(notes, values.rows, values.cols);
  RowsOf what{notes.name, notes.shape, values.rows, values.cols, {}, notes.columns};
  const bool letters = options.kind == ValueKind::kLetters;
  Dataset out = with_type(values.type, [&]<class T>(T) {
    const Scale scale = scale_of<T>(values, options.kind);
    const Wanted wanted{notes, options.kind, options.missing, scale.signs};
    what.read = [&](std::size_t r, std::span<double> row) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        const double found = element<T>(values, r, i);
        row[i] = scale(found);
        if (letters && options.missing && row[i] == -1.0) row[i] = std::nan("");  // whole numbers know no nan
        check(wanted, r, i, row[i], found);
      }
    };
    return pack(what, options, stream);
  });
  return with_notes(std::move(out), notes);
}

Dataset dataset_of(Bits bits, const RowNotes& notes) {
  check_notes(notes, bits.rows(), bits.cols());
  return with_notes({notes.name, std::move(bits), notes.shape}, notes);
}

Dataset dataset_of(Matrix<float> reals, const RowNotes& notes, Missing missing) {
  check_notes(notes, reals.rows(), reals.cols());
  Dataset out{notes.name, std::move(reals), notes.shape};
  for (std::size_t r = 0; r < out.rows(); ++r) {
    const std::span<float> row = out.reals().row(r);
    for (std::size_t i = 0; i < row.size(); ++i) {
      check({notes, ValueKind::kReal, missing == Missing::kAllowed}, r, i, row[i], row[i]);
      if (!std::isnan(row[i])) continue;
      out.set_missing(r, i);
      row[i] = 0.0f;
    }
  }
  return with_notes(std::move(out), notes);
}

std::vector<int> labels_of(const ArrayView& labels, const std::string& where) {
  std::vector<int> out;
  out.reserve(labels.rows * labels.cols);
  with_type(labels.type, [&]<class T>(T) {
    for (std::size_t k = 0; k < labels.rows * labels.cols; ++k) {
      const double value = element<T>(labels, k / labels.cols, k % labels.cols);
      if (!(value >= -1e9 && value <= 1e9) || value != std::floor(value)) {
        throw DataError(fmt::format("{}: row {}: expected a whole number as label, found {}", where, k + 1, value));
      }
      out.push_back(static_cast<int>(value));
    }
  });
  return out;
}

std::vector<double> weights_of(const ArrayView& weights, const std::string& where) {
  std::vector<double> out;
  out.reserve(weights.rows * weights.cols);
  with_type(weights.type, [&]<class T>(T) {
    for (std::size_t k = 0; k < weights.rows * weights.cols; ++k) {
      const double value = element<T>(weights, k / weights.cols, k % weights.cols);
      if (!(value >= 0.0 && value <= kLargestReal)) {
        throw DataError(
            fmt::format("{}: row {}: expected a weight from 0 to {:g}, found {}", where, k + 1, kLargestReal, value));
      }
      out.push_back(value);
    }
  });
  return out;
}

void set_weights(Dataset& data, std::vector<double> weights, const std::string& where) {
  if (weights.size() != data.rows()) {
    throw DataError(
        fmt::format("{}: expected a weight for each of {} rows, found {} weights", where, data.rows(), weights.size()));
  }
  data.weights = std::move(weights);
  if (data.effective_rows() == 0.0) throw DataError(fmt::format("{}: all weights are 0: no row counts", where));
}

void set_labels(Dataset& data, std::vector<int> labels, const std::string& where) {
  if (labels.size() != data.rows()) {
    throw DataError(
        fmt::format("{}: expected a label for each of {} rows, found {} labels", where, data.rows(), labels.size()));
  }
  data.labels = std::move(labels);
}

}  // namespace ergodic
