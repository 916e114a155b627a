#include "ergodic/trainer/network_learner.hpp"

#include <gtest/gtest.h>

namespace ergodic {
namespace {

std::vector<float> inputs_of(const Dataset& data, const std::vector<std::uint32_t>& rows) {
  Matrix<float> out(rows.size(), data.units());
  gather_inputs(data, rows, out);
  return {out.elements().begin(), out.elements().end()};
}

TEST(GatherInputs, BitsGreyLevelsAndNumbersAreFloats) {
  Dataset bits, grey, reals;
  bits.values = Bits(2, 2);
  bits.bits().set(1, 0, true);
  EXPECT_EQ(inputs_of(bits, {1, 0}), (std::vector<float>{1, 0, 0, 0}));
  grey.values = Matrix<Grey>(1, 2);
  grey.grey()(0, 1) = kFullGrey;
  EXPECT_EQ(inputs_of(grey, {0, 0}), (std::vector<float>{0, 1, 0, 1}));
  reals.values = Matrix<float>(1, 2);
  reals.reals()(0, 0) = -2.5f;
  EXPECT_EQ(inputs_of(reals, {0}), (std::vector<float>{-2.5f, 0}));
}

TEST(GatherInputs, AMissingValueIsAHalf) {
  Dataset data;
  data.values = Bits(2, 2);
  data.bits().set(0, 0, true);
  data.bits().set(1, 0, true);
  data.set_missing(0, 1);
  EXPECT_EQ(inputs_of(data, {0, 1}), (std::vector<float>{1, 0.5f, 1, 0}));
}

}  // namespace
}  // namespace ergodic
