#include "ergodic/run/finite.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

TEST(RequireFinite, NamesThePlaceCountedFromOne) {
  Matrix<float> values(4, 3);
  EXPECT_NO_THROW(require_finite(values.view(), "samples"));
  values(2, 1) = std::numeric_limits<float>::infinity();
  expect_parts(message_of<NumericError>([&] { require_finite(values.view(), "samples"); }),
               {"samples: unit 2 of row 3 is inf", "expected a finite number"});
}

}  // namespace
}  // namespace ergodic
