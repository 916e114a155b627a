#include "ergodic/store/tensors.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "store/machines.hpp"

namespace ergodic {
namespace {

Tensors with_metadata(std::map<std::string, std::string> metadata) {
  Tensors tensors;
  tensors.metadata = std::move(metadata);
  return tensors;
}

template <class T>
Tensors with_array(ElementType type, std::vector<std::size_t> shape, const std::vector<T>& elements) {
  Tensors tensors;
  tensors.arrays.emplace_back("w", array_of<T>(type, std::move(shape), elements));
  return tensors;
}

TEST(TensorsMetadata, AMissingKeyIsNamed) {
  const Tensors tensors = with_metadata({{"a", "1"}});
  EXPECT_EQ(metadata_at(tensors, "a", "file"), "1");
  expect_parts(refusal([&] { metadata_at(tensors, "b", "file"); }), {"file", "'b'"});
}

TEST(TensorsMetadata, OnlyTheFormatAskedForPasses) {
  EXPECT_NO_THROW(check_format(with_metadata({{"format", "f"}, {"version", "1"}}), "f", {1, 2}, "file"));
  EXPECT_NO_THROW(check_format(with_metadata({{"format", "f"}, {"version", "2"}}), "f", {1, 2}, "file"));
  expect_parts(refusal([] {
                 check_format(with_metadata({{"format", "g"}, {"version", "1"}}), "f", {1, 2}, "file");
               }),
               {"file", "f", "g"});
  for (const char* version : {"", "0", "-1", "3", "1x", " 1", "99999999999999999999"}) {
    expect_parts(refusal([&] {
                   check_format(with_metadata({{"format", "f"}, {"version", version}}), "f", {1, 2}, "file");
                 }),
                 {"file", "version 1 to 2", std::string("\"") + version + "\""});
  }
  EXPECT_THROW(check_format(with_metadata({{"version", "1"}}), "f", {1, 2}, "file"), DataError);
  EXPECT_THROW(check_format(with_metadata({{"format", "f"}}), "f", {1, 2}, "file"), DataError);
}

TEST(TensorsFloats, BothWidthsAreRead) {
  const std::vector<float> expected{1.5f, -0.25f};
  EXPECT_EQ(floats_at(with_array<float>(ElementType::kFloat32, {2}, {1.5f, -0.25f}), "w", {2}, "file"), expected);
  EXPECT_EQ(floats_at(with_array<double>(ElementType::kFloat64, {2}, {1.5, -0.25}), "w", {2}, "file"), expected);
}

TEST(TensorsFloats, AnotherNameShapeOrTypeIsRefused) {
  const Tensors tensors = with_array<float>(ElementType::kFloat32, {2, 3}, std::vector<float>(6));
  expect_parts(refusal([&] { floats_at(tensors, "v", {2, 3}, "file"); }), {"file", "v", "none"});
  expect_parts(refusal([&] { floats_at(tensors, "w", {3, 2}, "file"); }), {"file", "w", "[3, 2]", "[2, 3]"});
  EXPECT_THROW(floats_at(tensors, "w", {6}, "file"), DataError);
  const Tensors whole = with_array<std::int32_t>(ElementType::kInt32, {1}, {1});
  expect_parts(refusal([&] { floats_at(whole, "w", {1}, "file"); }), {"file", "w", "int32"});
}

TEST(TensorsFloats, WhatIsNotFiniteIsRefusedWithItsPlace) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity}) {
    const Tensors tensors = with_array<float>(ElementType::kFloat32, {3}, {0.0f, 0.0f, bad});
    expect_parts(refusal([&] { floats_at(tensors, "w", {3}, "file"); }), {"file", "w", "element 2"});
  }
  const Tensors beyond_float = with_array<double>(ElementType::kFloat64, {1}, {1e300});
  expect_parts(refusal([&] { floats_at(beyond_float, "w", {1}, "file"); }), {"element 0", "1e+300"});
}

TEST(TensorsArrays, KeepTypeShapeAndElements) {
  const std::vector<float> floats{1.0f, -0.0f};
  const std::vector<double> doubles{1e300, 2.0};
  const std::vector<std::uint64_t> words{~std::uint64_t{0}, 5};
  EXPECT_TRUE(same(array_of(floats, {2, 1}), array_of<float>(ElementType::kFloat32, {2, 1}, floats)));
  EXPECT_TRUE(same(array_of(doubles, {2}), array_of<double>(ElementType::kFloat64, {2}, doubles)));
  EXPECT_TRUE(same(array_of(words, {1, 2}), array_of<std::uint64_t>(ElementType::kUInt64, {1, 2}, words)));
}

TEST(TensorsParameters, ComeBack) {
  const Rbm model = random_machine(Spin{70}, Bernoulli{3});
  Tensors tensors;
  put_parameters(tensors, model.parameters());
  const Rbm other(Spin{70}, Bernoulli{3});
  const Parameters loaded = parameters_from(tensors, other.parameters(), "file");
  EXPECT_TRUE(same_bits(loaded.values(), model.parameters().values()));
}

TEST(TensorsParameters, WhatCouldNotBeReadBackIsNotWritten) {
  for (const auto& [slot, largest] : {std::pair("weights", 1e15f), std::pair("visible_log_precision", 80.0f)}) {
    Parameters parameters = Rbm(Gaussian{2}, Bernoulli{2}).parameters();
    Tensors tensors;
    parameters[slot][1] = -largest;
    EXPECT_NO_THROW(put_parameters(tensors, parameters));
    EXPECT_EQ(parameters_from(tensors, parameters, "file")[slot][1], -largest);
    parameters[slot][1] = -1.01f * largest;
    EXPECT_THROW(put_parameters(tensors, parameters), NumericError);
  }
}

TEST(TensorsParameters, OfAnotherShapeAreRefused) {
  Tensors tensors;
  put_parameters(tensors, random_machine(Bernoulli{4}, Bernoulli{3}).parameters());
  const Rbm other(Bernoulli{3}, Bernoulli{4});
  EXPECT_THROW(parameters_from(tensors, other.parameters(), "file"), DataError);
}

}  // namespace
}  // namespace ergodic
