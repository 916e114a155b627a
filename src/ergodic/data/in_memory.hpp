// Data sets from arrays in memory, such as those of NumPy: read where they lie, checked, and packed once.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ergodic/core/bits.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/format/array.hpp"

namespace ergodic {

/// What a machine makes of values.
enum class ValueKind {
  kBits,     ///< on or off: numbers in [0, 1], or all of them -1 or 1
  kSpins,    ///< the same of units that are -1 or 1: numbers in [-1, 1] if any is negative, else in [0, 1]
  kReal,     ///< any finite numbers, as they are
  kLetters,  ///< whole numbers from 0 up, each a letter, or sequences of letters
};

/// How values in [0, 1] become bits.
enum class Binarise {
  kThreshold,  ///< on from the threshold up
  kFixed,      ///< one random draw by grey level, which does not depend on the seed
  kDynamic,    ///< a new random draw each epoch
};

/// How numbers become the values of a data set (docs/format.md, "Values of units in files"). Numbers of 8 bits without
/// a sign, if any is beyond 1, are grey levels of 255 steps, unless they are letters.
struct ValueOptions {
  ValueKind kind = ValueKind::kBits;
  Binarise binarise = Binarise::kThreshold;
  double threshold = 0.5;
  bool missing = false;  ///< nan is a missing value; of letters -1 too, in sequences "?", in text "NA", "?" or nothing
  std::size_t letters = 0;  ///< how many there are, if values are letters; 0: as many as the data has
  std::size_t units = 0;    ///< sites times letters: rows of so many numbers give the probability of each letter; or 0
};

/// Rows x columns of numbers in anybody's memory. Strides are in bytes and may be negative, as NumPy has them: any
/// order of axes and any slice will do. Elements need not be aligned.
struct ArrayView {
  ElementType type = ElementType::kFloat32;
  const std::byte* data = nullptr;  ///< the first element of the first row
  std::size_t rows = 0, cols = 0;
  std::ptrdiff_t row_stride = 0, col_stride = 0;
};

/// A view on rows that lie one after the other.
ArrayView rows_view(ElementType type, const void* data, std::size_t rows, std::size_t cols);
template <class T>
ArrayView rows_view(std::span<const T> elements, std::size_t rows, std::size_t cols) {
  assert(elements.size() == rows * cols);
  return rows_view(element_type_of<T>(), elements.data(), rows, cols);
}

/// What is to be said of rows beside their values.
struct RowNotes {
  std::string name = "data";  ///< in messages, and in the model file
  PictureShape shape{};
  std::vector<int> labels{};              ///< one for each row, or none
  std::vector<std::string> unit_names{};  ///< of each column, or none
  std::vector<std::string> columns{};     ///< how messages name each column, such as "3 (age)"; none: by its number
};

/// "row 2, column 3 (age)": both are counted from 1 in messages, and from 0 here. `columns` as in RowNotes.
std::string place_text(std::size_t row, std::size_t column, std::span<const std::string> columns = {});

/// DataError names row and column of a number that is not in [0, 1], or not finite where real numbers are wanted, or
/// not a letter, or missing unless that is allowed. Fixed draws of different streams are independent.
Dataset dataset_of(const ArrayView& values, const RowNotes& notes = {}, const ValueOptions& options = {},
                   std::uint8_t stream = 0);
/// Bits, and real numbers, that become the data set without a copy if they are moved here.
Dataset dataset_of(Bits bits, const RowNotes& notes = {});
Dataset dataset_of(Matrix<float> reals, const RowNotes& notes = {}, Missing missing = Missing::kRefused);

/// All elements, row by row, as labels. DataError names `where` and the place of one that is not a whole number.
std::vector<int> labels_of(const ArrayView& labels, const std::string& where);

/// All elements, row by row, as weights of rows. DataError names `where` and the place of one that is negative or not
/// finite.
std::vector<double> weights_of(const ArrayView& weights, const std::string& where);

/// DataError that names `where` unless there is a weight for each row, not all of them zero.
void set_weights(Dataset& data, std::vector<double> weights, const std::string& where);

/// DataError that names `where` unless there is a label for each row.
void set_labels(Dataset& data, std::vector<int> labels, const std::string& where);

}  // namespace ergodic
