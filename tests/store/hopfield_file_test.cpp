#include "ergodic/store/hopfield_file.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/format/file.hpp"
#include "ergodic/store/model_file.hpp"
#include "ergodic/store/tensors.hpp"
#include "model/patterns.hpp"
#include "store/machines.hpp"

namespace ergodic {
namespace {

using Notes = std::map<std::string, std::string>;

HopfieldFile classical(std::size_t units) { return {test::random_network(units, 1), "hebb", {{"picture", "1x3"}}}; }

HopfieldFile modern(std::size_t count, std::size_t units) {
  Matrix<float> patterns(count, units);
  unpack(test::random_patterns(count, units, 2), patterns);
  return {ModernHopfield(std::move(patterns), 0.3f), "modern", {}};
}

/// What another program might write: the layout, and nothing of ours.
Tensors foreign_couplings() {
  Tensors tensors;
  tensors.metadata = {{"format", "ergodic-model"}, {"version", "1"}, {"model", "hopfield"}, {"rule", "by hand"}};
  const std::vector<float> couplings{0, 1, 2, 1, 0, 3, 2, 3, 0}, bias{0.5f, 0, -1};
  tensors.arrays.emplace_back("couplings", array_of(couplings, {3, 3}));
  tensors.arrays.emplace_back("bias", array_of(bias, {3}));
  return tensors;
}

Tensors foreign_patterns() {
  Tensors tensors;
  tensors.metadata = {{"format", "ergodic-model"}, {"version", "1"}, {"model", "hopfield"}, {"rule", "modern"}};
  tensors.arrays.emplace_back("patterns", array_of(std::vector<float>{1, -1, 0.5f, 2, 0, 1}, {2, 3}));
  tensors.arrays.emplace_back("beta", array_of(std::vector<float>{4}, {1}));
  return tensors;
}

HopfieldFile loaded(const Tensors& tensors) {
  const auto path = fresh_path("h.safetensors");
  write_safetensors(path, tensors);
  return load_hopfield(path);
}

/// The message with which a foreign file is refused after a change.
template <class Change>
std::string refused_after(Tensors tensors, const Change& change) {
  change(tensors);
  return refusal([&] { loaded(tensors); });
}

/// Replaces one float of an array.
auto with_element(std::size_t array, std::size_t element, float value) {
  return [=](Tensors& t) {
    std::memcpy(t.arrays[array].second.bytes.data() + element * sizeof value, &value, sizeof value);
  };
}

TEST(HopfieldFile, CouplingsComeBackBitForBit) {
  const auto path = fresh_path("h.safetensors");
  for (const std::size_t units : {1u, 3u, 67u}) {
    const HopfieldFile file = classical(units);
    save_hopfield(path, file);
    const HopfieldFile back = load_hopfield(path);
    const auto& before = std::get<Hopfield>(file.network);
    const auto& after = std::get<Hopfield>(back.network);
    EXPECT_TRUE(same_bits(after.couplings().elements(), before.couplings().elements()));
    EXPECT_TRUE(same_bits(after.bias(), before.bias()));
    EXPECT_EQ(back.rule, "hebb");
    EXPECT_EQ(back.notes, (Notes{{"picture", "1x3"}}));
    EXPECT_TRUE(back.verified);
  }
}

TEST(HopfieldFile, PatternsAndBetaComeBackBitForBit) {
  const auto path = fresh_path("h.safetensors");
  const HopfieldFile file = modern(5, 70);
  save_hopfield(path, file);
  const HopfieldFile back = load_hopfield(path);
  const auto& after = std::get<ModernHopfield>(back.network);
  EXPECT_EQ(after.patterns(), std::get<ModernHopfield>(file.network).patterns());
  EXPECT_EQ(after.beta(), 0.3f);
  EXPECT_EQ(back.rule, "modern");
  EXPECT_TRUE(back.verified);
}

TEST(HopfieldFile, TheSameContentGivesTheSameBytes) {
  const auto path = fresh_path("h.safetensors");
  for (const HopfieldFile& file : {classical(9), modern(2, 9)}) {
    save_hopfield(path, file);
    const auto first = read_file(path);
    save_hopfield(path, load_hopfield(path));
    EXPECT_EQ(read_file(path), first);
  }
}

TEST(HopfieldFile, EveryFlippedBitAndTruncationIsRefused) {
  const auto path = fresh_path("h.safetensors");
  for (const HopfieldFile& file : {classical(2), modern(1, 2)}) {
    save_hopfield(path, file);
    const auto whole = read_file(path);
    for_each_bit_flip(whole, [&](const ByteVector& damaged, std::size_t) {
      put_bytes(path, damaged);
      EXPECT_TRUE(refuses([&] { load_hopfield(path); }));
    });
    for_each_truncation(whole, [&](const ByteVector& part) {
      put_bytes(path, part);
      EXPECT_TRUE(refuses([&] { load_hopfield(path); }));
    });
  }
}

TEST(HopfieldFile, AForeignFileIsTakenUnverified) {
  const HopfieldFile couplings = loaded(foreign_couplings());
  EXPECT_FALSE(couplings.verified);
  EXPECT_EQ(couplings.rule, "by hand");
  EXPECT_EQ(std::get<Hopfield>(couplings.network).couplings()(1, 2), 3.0f);
  const HopfieldFile patterns = loaded(foreign_patterns());
  EXPECT_EQ(std::get<ModernHopfield>(patterns.network).patterns()(1, 0), 2.0f);
  EXPECT_EQ(std::get<ModernHopfield>(patterns.network).beta(), 4.0f);
}

TEST(HopfieldFile, CouplingsThatAreNoNetworkAreRefused) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensors good = foreign_couplings();
  expect_parts(refused_after(good, with_element(0, 1, 7.0f)), {"h.safetensors", "symmetric", "7", "(0, 1)"});
  expect_parts(refused_after(good, with_element(0, 4, 7.0f)), {"h.safetensors", "diagonal", "(1, 1)"});
  expect_parts(refused_after(good, with_element(0, 4, nan)), {"h.safetensors", "couplings", "element 4", "finite"});
  expect_parts(refused_after(good, with_element(1, 2, nan)), {"h.safetensors", "bias", "element 2", "finite"});
  expect_parts(refused_after(good, [](Tensors& t) { t.arrays.pop_back(); }), {"bias", "none"});
  expect_parts(refused_after(good, [](Tensors& t) { t.arrays.erase(t.arrays.begin()); }), {"couplings", "none"});
  expect_parts(refused_after(good, [](Tensors& t) { t.arrays[0].second.shape = {9}; }), {"couplings", "1 dimension"});
  expect_parts(refused_after(good, [](Tensors& t) { t.arrays[0].second.shape = {1, 9}; }), {"bias", "[1]", "[3]"});
  expect_parts(refused_after(good, [](Tensors& t) { t.arrays[1].second.shape = {3, 1}; }), {"bias", "[3, 1]"});
  expect_parts(refused_after(good,
                             [](Tensors& t) {
                               t.arrays[0].second = array_of(std::vector<float>(6), {3, 2});
                             }),
               {"couplings", "3 x 2"});
}

TEST(HopfieldFile, PatternsThatAreNoneAreRefused) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensors good = foreign_patterns();
  expect_parts(refused_after(good, with_element(0, 5, infinity)), {"patterns", "element 5", "finite"});
  expect_parts(refused_after(good, with_element(1, 0, 0.0f)), {"h.safetensors", "beta", "above zero"});
  expect_parts(refused_after(good, [](Tensors& t) { t.arrays[1].second.shape = {1, 1}; }), {"beta", "[1, 1]"});
  expect_parts(refused_after(good,
                             [](Tensors& t) {
                               t.arrays[0].second = {ElementType::kFloat32, {0, 3}, {}};
                             }),
               {"patterns", "at least 1"});
}

TEST(HopfieldFile, MetadataThatIsAnothersIsRefused) {
  const Tensors good = foreign_couplings();
  expect_parts(refused_after(good, [](Tensors& t) { t.metadata["model"] = "rbm"; }), {"hopfield", "'rbm'"});
  expect_parts(refused_after(good, [](Tensors& t) { t.metadata["version"] = "2"; }), {"version", "'2'"});
  expect_parts(refused_after(good, [](Tensors& t) { t.metadata.erase("rule"); }), {"'rule'"});
  expect_parts(refused_after(good, [](Tensors& t) { t.metadata["rule"] = "modern"; }), {"patterns", "none"});
}

TEST(HopfieldFile, WhoWantsABoltzmannMachineIsToldWhatToDo) {
  const auto path = fresh_path("h.safetensors");
  save_hopfield(path, classical(3));
  expect_parts(refusal([&] { load_model(path); }), {"h.safetensors", "rbm", "hopfield", "`ergodic recall`"});
}

}  // namespace
}  // namespace ergodic
