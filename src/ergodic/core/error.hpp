// Errors: what the library throws when a request cannot be met.
//
// A message says what was expected, what was found, where, and what to do. Only a front door (the command)
// catches these; a broken promise between our own functions is an assert instead.
#pragma once

#include <stdexcept>
#include <string>

namespace ergodic {

/// Base of all errors that a caller may want to catch.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The request itself is wrong: an impossible option, mismatched shapes, an unknown name.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// The content of a file or data set is wrong: truncated, out of range, inconsistent.
class DataError : public Error {
 public:
  using Error::Error;
};

/// The system refused to read or write: permissions, a full disk, a failed program.
class IoError : public Error {
 public:
  using Error::Error;
};

/// An input that does not exist or cannot be opened for reading.
class NoInputError : public IoError {
 public:
  using IoError::IoError;
};

/// A computation left the realm of numbers: NaN, infinity, divergence.
class NumericError : public Error {
 public:
  using Error::Error;
};

/// Throws UsageError unless the condition holds. For requests that cross the library's border.
inline void require(bool condition, const std::string& message) {
  if (!condition) throw UsageError(message);
}

}  // namespace ergodic
