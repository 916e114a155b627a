#include "ergodic/data/in_memory.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
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

/// 8-bit values beyond 1 are grey levels of 255 steps; all else must lie in [0, 1] as it is.
double full_scale(const ArrayView& view) {
  if (view.type != ElementType::kUInt8) return 1.0;
  for (std::size_t r = 0; r < view.rows; ++r) {
    for (std::size_t i = 0; i < view.cols; ++i) {
      if (element<std::uint8_t>(view, r, i) > 1.0) return 255.0;
    }
  }
  return 1.0;
}

constexpr double kLargestReal = 1e15;  // sums of squares of such numbers are still floats

[[noreturn]] void refuse(const std::string& name, std::size_t row, std::size_t unit, const std::string& expected,
                         double found) {
  throw DataError(
      fmt::format("{}: row {}, column {} (counted from 0): expected {}, found {}; {}", name, row, unit, expected, found,
                  std::isnan(found) ? "if it stands for a missing value, say --missing" : "scale the data first"));
}

/// Refuses a number that machines of this kind do not take. Letters are judged when they are counted.
void check(const std::string& name, std::size_t row, std::size_t unit, double value, ValueKind kind, bool missing) {
  if (std::isnan(value) && missing) return;
  switch (kind) {
    case ValueKind::kBits:
      if (!(value >= 0.0 && value <= 1.0)) refuse(name, row, unit, "a value in [0, 1]", value);
      break;
    case ValueKind::kReal:
      if (!(std::abs(value) <= kLargestReal)) {
        refuse(name, row, unit, fmt::format("a number from -{:g} to {:g}", kLargestReal, kLargestReal), value);
      }
      break;
    case ValueKind::kLetters:
      if (std::isnan(value)) refuse(name, row, unit, "a letter as a whole number", value);
  }
}

void check_notes(const RowNotes& notes, std::size_t rows, std::size_t cols) {
  if (rows == 0 || cols == 0) throw DataError(fmt::format("{}: the data set is empty", notes.name));
  const auto [height, width] = notes.shape;
  require(notes.shape == PictureShape{} || height * width == cols,
          fmt::format("{}: rows of {} values are no pictures of {} x {}", notes.name, cols, height, width));
}

Dataset with_labels(Dataset data, const RowNotes& notes) {
  if (!notes.labels.empty()) set_labels(data, notes.labels, notes.name);
  return data;
}

}  // namespace

ArrayView rows_view(ElementType type, const void* data, std::size_t rows, std::size_t cols) {
  const auto size = static_cast<std::ptrdiff_t>(size_of(type));
  return {type, static_cast<const std::byte*>(data), rows, cols, static_cast<std::ptrdiff_t>(cols) * size, size};
}

Dataset dataset_of(const ArrayView& values, const RowNotes& notes, const ValueOptions& options, std::uint8_t stream) {
  check_notes(notes, values.rows, values.cols);
  RowsOf what{notes.name, notes.shape, values.rows, values.cols};
  const bool letters = options.kind == ValueKind::kLetters;
  const double scale = letters ? 1.0 : full_scale(values);
  Dataset out = with_type(values.type, [&]<class T>(T) {
    what.read = [&](std::size_t r, std::span<double> row) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        row[i] = element<T>(values, r, i) / scale;
        if (letters && options.missing && row[i] == -1.0) row[i] = std::nan("");  // whole numbers know no nan
        check(notes.name, r, i, row[i], options.kind, options.missing);
      }
    };
    return pack(what, options, stream);
  });
  return with_labels(std::move(out), notes);
}

Dataset dataset_of(Bits bits, const RowNotes& notes) {
  check_notes(notes, bits.rows(), bits.cols());
  return with_labels({notes.name, std::move(bits), notes.shape}, notes);
}

Dataset dataset_of(Matrix<float> reals, const RowNotes& notes, Missing missing) {
  check_notes(notes, reals.rows(), reals.cols());
  Dataset out{notes.name, std::move(reals), notes.shape};
  for (std::size_t r = 0; r < out.rows(); ++r) {
    const std::span<float> row = out.reals().row(r);
    for (std::size_t i = 0; i < row.size(); ++i) {
      check(notes.name, r, i, row[i], ValueKind::kReal, missing == Missing::kAllowed);
      if (!std::isnan(row[i])) continue;
      out.set_missing(r, i);
      row[i] = 0.0f;
    }
  }
  return with_labels(std::move(out), notes);
}

std::vector<int> labels_of(const ArrayView& labels, const std::string& where) {
  std::vector<int> out;
  out.reserve(labels.rows * labels.cols);
  with_type(labels.type, [&]<class T>(T) {
    for (std::size_t k = 0; k < labels.rows * labels.cols; ++k) {
      const double value = element<T>(labels, k / labels.cols, k % labels.cols);
      if (!(value >= -1e9 && value <= 1e9) || value != std::floor(value)) {
        throw DataError(fmt::format("{}: row {}: expected a whole number as label, found {}", where, k, value));
      }
      out.push_back(static_cast<int>(value));
    }
  });
  return out;
}

void set_labels(Dataset& data, std::vector<int> labels, const std::string& where) {
  if (labels.size() != data.rows()) {
    throw DataError(
        fmt::format("{}: expected a label for each of {} rows, found {} labels", where, data.rows(), labels.size()));
  }
  data.labels = std::move(labels);
}

}  // namespace ergodic
