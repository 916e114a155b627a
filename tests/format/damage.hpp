// What the tests of file formats share: bytes from literals, arrays from numbers, files damaged in every small way.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ergodic/core/error.hpp"
#include "ergodic/format/array.hpp"

namespace ergodic {

using ByteVector = std::vector<std::byte>;

inline ByteVector bytes_from(std::string_view text) {
  ByteVector bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

/// A path in a folder of this test's own, which is empty at first.
inline std::filesystem::path fresh_path(const std::string& name) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const auto folder = std::filesystem::path(::testing::TempDir()) /
                      (std::string("ergodic_") + test->test_suite_name() + "_" + test->name());
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder / name;
}

template <class T>
Array array_of(ElementType type, std::vector<std::size_t> shape, const std::vector<T>& elements) {
  Array array{type, std::move(shape), ByteVector(elements.size() * sizeof(T))};
  if (!elements.empty()) std::memcpy(array.bytes.data(), elements.data(), array.bytes.size());
  return array;
}

template <class T>
std::vector<T> elements_of(const Array& array) {
  std::vector<T> elements(array.bytes.size() / sizeof(T));
  if (!elements.empty()) std::memcpy(elements.data(), array.bytes.data(), array.bytes.size());
  return elements;
}

inline bool same(const Array& a, const Array& b) {
  return a.type == b.type && a.shape == b.shape && a.bytes == b.bytes;
}

/// One array of each type, with both its extreme bit patterns (bool: both its values).
inline std::vector<Array> arrays_of_all_types() {
  std::vector<Array> arrays;
  for (int code = 0; code <= static_cast<int>(ElementType::kFloat64); ++code) {
    const auto type = static_cast<ElementType>(code);
    Array array{type, {2, 1}, ByteVector(2 * size_of(type))};
    const auto high = type == ElementType::kBool ? std::byte{1} : std::byte{0xfe};
    for (std::size_t i = 0; i < size_of(type); ++i) array.bytes[i] = high;
    arrays.push_back(array);
  }
  return arrays;
}

/// The message of the DataError that `read` throws; a failure of the test if it throws none.
template <class Read>
std::string refusal(const Read& read) {
  try {
    read();
  } catch (const DataError& error) {
    return error.what();
  }
  ADD_FAILURE() << "expected a DataError";
  return "";
}

/// Calls check(part) with every proper prefix of the file.
template <class Check>
void for_each_truncation(const ByteVector& file, const Check& check) {
  for (std::size_t size = 0; size < file.size(); ++size) {
    SCOPED_TRACE("first " + std::to_string(size) + " bytes");
    // A copy of exactly this size, so that the address sanitizer sees a step beyond it.
    check(ByteVector(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)));
  }
}

/// Calls check(file, byte) with each bit of the file flipped, one at a time.
template <class Check>
void for_each_bit_flip(ByteVector file, const Check& check) {
  for (std::size_t at = 0; at < file.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      SCOPED_TRACE("byte " + std::to_string(at) + ", bit " + std::to_string(bit));
      file[at] ^= std::byte{1} << bit;
      check(file, at);
      file[at] ^= std::byte{1} << bit;
    }
  }
}

/// Whether `read` refuses with one of our errors; any other exception or a crash fails the test.
template <class Read>
bool refuses(const Read& read) {
  try {
    read();
    return false;
  } catch (const Error&) {
    return true;
  }
}

}  // namespace ergodic
