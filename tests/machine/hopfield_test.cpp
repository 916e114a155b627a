// Hopfield networks as machines, and in files.
#include <gtest/gtest.h>

#include <limits>

#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/format/file.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/machine/model_file.hpp"
#include "ergodic/model/modern_hopfield.hpp"
#include "ergodic/store/tensors.hpp"
#include "model/patterns.hpp"
#include "store/machines.hpp"

namespace ergodic {
namespace {

/// Tensors of a file that another program might write, for `rule`.
Tensors tensors_for(const std::string& rule) {
  Tensors out;
  out.metadata = {{"format", "ergodic-model"}, {"version", "1"}, {"model", "hopfield"}, {"rule", rule}};
  return out;
}

Tensors random_couplings(std::size_t units) {
  const Hopfield network = test::random_network(units, 1);
  Tensors out = tensors_for("hebb");
  out.arrays.emplace_back("couplings", array_of(network.couplings().elements(), {units, units}));
  out.arrays.emplace_back("bias", array_of(network.bias(), {units}));
  return out;
}

Tensors random_patterns(std::size_t count, std::size_t units) {
  Matrix<float> patterns(count, units);
  unpack(test::random_patterns(count, units, 2), patterns);
  Tensors out = tensors_for("modern");
  out.arrays.emplace_back("patterns", array_of(std::as_const(patterns).elements(), {count, units}));
  out.arrays.emplace_back("beta", array_of(std::vector<float>{0.3f}, {1}));
  return out;
}

std::unique_ptr<Machine> machine_of(const Tensors& tensors) { return kind_named("hopfield").read(tensors, "h"); }

const Notes kNotes{{"picture", "1x3"}};

Tensors foreign_couplings() {
  Tensors tensors = tensors_for("by hand");
  const std::vector<float> couplings{0, 1, 2, 1, 0, 3, 2, 3, 0}, bias{0.5f, 0, -1};
  tensors.arrays.emplace_back("couplings", array_of(couplings, {3, 3}));
  tensors.arrays.emplace_back("bias", array_of(bias, {3}));
  return tensors;
}

Tensors foreign_patterns() {
  Tensors tensors = tensors_for("modern");
  tensors.arrays.emplace_back("patterns", array_of(std::vector<float>{1, -1, 0.5f, 2, 0, 1}, {2, 3}));
  tensors.arrays.emplace_back("beta", array_of(std::vector<float>{4}, {1}));
  return tensors;
}

ModelFile loaded(const Tensors& tensors) {
  const auto path = fresh_path("h.safetensors");
  write_safetensors(path, tensors);
  return load_model(path);
}

/// The floats that a machine puts into a file under this name.
std::vector<float> floats_of(const Machine& machine, const std::string& name) {
  Tensors out;
  machine.put(out);
  return floats_at(out, name, out.find(name)->shape, "h");
}

const std::string& rule_of(const Machine& machine) { return std::get<std::string>(machine.facts()[0].value); }

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
    const Hopfield before = test::random_network(units, 1);
    save_model(path, *machine_of(random_couplings(units)), kNotes);
    const ModelFile back = load_model(path);
    EXPECT_TRUE(same_bits(floats_of(*back.machine, "couplings"), before.couplings().elements()));
    EXPECT_TRUE(same_bits(floats_of(*back.machine, "bias"), before.bias()));
    EXPECT_EQ(rule_of(*back.machine), "hebb");
    EXPECT_EQ(back.notes, kNotes);
    EXPECT_TRUE(back.verified);
  }
}

TEST(HopfieldFile, PatternsAndBetaComeBackBitForBit) {
  const auto path = fresh_path("h.safetensors");
  const Tensors tensors = random_patterns(5, 70);
  save_model(path, *machine_of(tensors), {});
  const ModelFile back = load_model(path);
  EXPECT_TRUE(same_bits(floats_of(*back.machine, "patterns"), floats_at(tensors, "patterns", {5, 70}, "h")));
  EXPECT_EQ(floats_of(*back.machine, "beta"), (std::vector<float>{0.3f}));
  EXPECT_EQ(rule_of(*back.machine), "modern");
  EXPECT_TRUE(back.verified);
}

TEST(HopfieldFile, TheSameContentGivesTheSameBytes) {
  const auto path = fresh_path("h.safetensors");
  for (const Tensors& tensors : {random_couplings(9), random_patterns(2, 9)}) {
    save_model(path, *machine_of(tensors), kNotes);
    const auto first = read_file(path);
    const ModelFile file = load_model(path);
    save_model(path, *file.machine, file.notes);
    EXPECT_EQ(read_file(path), first);
  }
}

TEST(HopfieldFile, EveryFlippedBitAndTruncationIsRefused) {
  const auto path = fresh_path("h.safetensors");
  for (const Tensors& tensors : {random_couplings(2), random_patterns(1, 2)}) {
    save_model(path, *machine_of(tensors), {});
    const auto whole = read_file(path);
    for_each_bit_flip(whole, [&](const ByteVector& damaged, std::size_t) {
      put_bytes(path, damaged);
      EXPECT_TRUE(refuses([&] { load_model(path); }));
    });
    for_each_truncation(whole, [&](const ByteVector& part) {
      put_bytes(path, part);
      EXPECT_TRUE(refuses([&] { load_model(path); }));
    });
  }
}

TEST(HopfieldFile, AForeignFileIsTakenUnverified) {
  const ModelFile couplings = loaded(foreign_couplings());
  EXPECT_FALSE(couplings.verified);
  EXPECT_EQ(rule_of(*couplings.machine), "by hand");
  EXPECT_EQ(floats_of(*couplings.machine, "couplings")[1 * 3 + 2], 3.0f);
  const ModelFile patterns = loaded(foreign_patterns());
  EXPECT_EQ(floats_of(*patterns.machine, "patterns")[1 * 3 + 0], 2.0f);
  EXPECT_EQ(floats_of(*patterns.machine, "beta")[0], 4.0f);
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
  expect_parts(refused_after(good, [](Tensors& t) { t.metadata["model"] = "rbm"; }), {"h.safetensors", "weights"});
  expect_parts(refused_after(good, [](Tensors& t) { t.metadata["version"] = "2"; }), {"version", "\"2\""});
  expect_parts(refused_after(good, [](Tensors& t) { t.metadata.erase("rule"); }), {"'rule'"});
  expect_parts(refused_after(good, [](Tensors& t) { t.metadata["rule"] = "modern"; }), {"patterns", "none"});
}

TEST(HopfieldMachine, WithCouplingsItIsABoltzmannMachineOfSpins) {
  const Hopfield network = test::random_network(5, 1);
  const std::unique_ptr<Machine> machine = machine_of(random_couplings(5));
  EXPECT_TRUE(machine->visible() == Layer(Spin{5}));
  const State rows = test::random_patterns(7, 5, 3);
  const std::vector<double> energies = network.energy(rows, {});
  const std::vector<double> found = *machine->free_energies(rows, {});
  ASSERT_EQ(found.size(), 7u);
  for (std::size_t r = 0; r < 7; ++r) EXPECT_NEAR(found[r], energies[r], 1e-12);
}

TEST(HopfieldMachine, TheModernFormIsAnEnergyOfRealUnits) {
  const std::unique_ptr<Machine> machine = machine_of(random_patterns(2, 3));
  EXPECT_TRUE(machine->visible() == Layer(Gaussian{3}));
  Matrix<float> patterns(2, 3);
  unpack(test::random_patterns(2, 3, 2), patterns);
  const ModernHopfield network(patterns, 0.3f);
  State rows(Matrix<float>(2, 3));
  rows.reals()(1, 0) = 0.75f;
  const std::vector<double> found = *machine->free_energies(rows, {});
  EXPECT_EQ(found[0], network.energy(std::vector<double>{0.0, 0.0, 0.0}));
  EXPECT_EQ(found[1], network.energy(std::vector<double>{0.75, 0.0, 0.0}));
}

}  // namespace
}  // namespace ergodic
