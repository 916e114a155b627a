// Dense row-major matrices: an owning one, and a view on anybody's memory.
#pragma once

#include <cassert>
#include <cstddef>
#include <span>
#include <type_traits>

#include "ergodic/core/aligned.hpp"

namespace ergodic {

/// A rows x cols window on row-major memory. Cheap to copy; owns nothing.
template <class T>
class MatrixView {
 public:
  MatrixView() = default;
  MatrixView(T* data, std::size_t rows, std::size_t cols) : data_(data), rows_(rows), cols_(cols) {}

  /// A view on mutable elements is also a view on constant ones.
  operator MatrixView<const T>() const requires(!std::is_const_v<T>) { return {data_, rows_, cols_}; }

  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  T* data() const { return data_; }
  std::span<T> row(std::size_t r) const {
    assert(r < rows_);
    return {data_ + r * cols_, cols_};
  }
  std::span<T> elements() const { return {data_, rows_ * cols_}; }
  T& operator()(std::size_t r, std::size_t c) const {
    assert(r < rows_ && c < cols_);
    return data_[r * cols_ + c];
  }

 private:
  T* data_ = nullptr;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
};

/// A rows x cols matrix that owns its elements, zero at first.
template <class T>
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::size_t rows, std::size_t cols) : elements_(rows * cols), rows_(rows), cols_(cols) {}

  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  T* data() { return elements_.data(); }
  const T* data() const { return elements_.data(); }
  std::span<T> row(std::size_t r) { return view().row(r); }
  std::span<const T> row(std::size_t r) const { return view().row(r); }
  std::span<T> elements() { return elements_; }
  std::span<const T> elements() const { return elements_; }
  T& operator()(std::size_t r, std::size_t c) { return view()(r, c); }
  const T& operator()(std::size_t r, std::size_t c) const { return view()(r, c); }

  MatrixView<T> view() { return {elements_.data(), rows_, cols_}; }
  MatrixView<const T> view() const { return {elements_.data(), rows_, cols_}; }
  operator MatrixView<T>() { return view(); }
  operator MatrixView<const T>() const { return view(); }

  bool operator==(const Matrix&) const = default;

 private:
  AlignedVector<T> elements_;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
};

}  // namespace ergodic
