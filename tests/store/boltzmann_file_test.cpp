#include "ergodic/store/boltzmann_file.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "boltzmann_machines.hpp"
#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/store/tensors.hpp"

namespace ergodic {
namespace {

using test::random_boltzmann;

Tensors tensors_of(const Boltzmann& machine) {
  Tensors out;
  put_boltzmann(out, machine);
  return out;
}

/// What another program might write: three units, edges in any order, and the units of an edge too.
Tensors foreign_edges() {
  Tensors out;
  out.metadata = {{"format", "ergodic-model"}, {"version", "1"}, {"model", "boltzmann"}, {"units", "spin"}};
  out.arrays.emplace_back("bias", array_of(std::vector<float>{0.5f, 0, -1}, {3}));
  out.arrays.emplace_back("couplings", array_of(std::vector<float>{2, 1}, {2}));
  out.arrays.emplace_back("edges", array_of(std::vector<std::uint64_t>{2, 1, 0, 1}, {2, 2}));
  return out;
}

Tensors foreign_matrix(std::vector<float> matrix) {
  Tensors out;
  out.metadata = {{"format", "ergodic-model"}, {"version", "1"}, {"model", "boltzmann"}};
  out.arrays.emplace_back("bias", array_of(std::vector<float>{0.5f, 0, -1, 3}, {4}));
  out.arrays.emplace_back("matrix", array_of(matrix, {4, 4}));
  return out;
}

const std::vector<float> kMatrix{0, 0, 1, 2,   //
                                 0, 0, 3, 4,   //
                                 1, 3, 0, 0,   //
                                 2, 4, 0, 0};  // also one of two sites of two letters

template <class Change>
std::string refused_after(Tensors tensors, const Change& change) {
  change(tensors);
  return message_of<DataError>([&] { boltzmann_from(tensors, "b.safetensors"); });
}

/// Replaces one element of an array.
template <class T>
auto with_element(std::size_t array, std::size_t element, T value) {
  return [=](Tensors& t) {
    std::memcpy(t.arrays[array].second.bytes.data() + element * sizeof value, &value, sizeof value);
  };
}

TEST(BoltzmannFile, ForeignEdgesComeInAnyOrder) {
  const Boltzmann machine = boltzmann_from(foreign_edges(), "b.safetensors");
  EXPECT_EQ(name_of(machine.units()), "spin");
  EXPECT_EQ(test::edges_of(machine.graph()), (std::vector<test::Edge>{{0, 1}, {1, 2}}));
  EXPECT_EQ(machine.couplings()[0], 1.0f);
  EXPECT_EQ(machine.couplings()[1], 2.0f);
  EXPECT_EQ(machine.bias()[2], -1.0f);
  EXPECT_EQ(machine.visible(), 3u);
}

TEST(BoltzmannFile, AForeignMatrixIsADenseMachine) {
  const Boltzmann machine = boltzmann_from(foreign_matrix(kMatrix), "b.safetensors");
  EXPECT_EQ(name_of(machine.units()), "bernoulli");
  EXPECT_EQ(machine.graph().edges(), 6u);
  EXPECT_EQ(machine.couplings()[4], 4.0f);  // 1 and 3
  Tensors sites = foreign_matrix(kMatrix);
  sites.metadata["units"] = "potts";
  sites.metadata["letters"] = "2";
  const Boltzmann letters = boltzmann_from(sites, "b.safetensors");
  EXPECT_EQ(letters.graph().edges(), 4u);
  EXPECT_EQ(letters.couplings()[3], 4.0f);
}

TEST(BoltzmannFile, EdgesThatAreNoGraphAreRefused) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensors good = foreign_edges();
  const auto edge = [](std::size_t element, std::uint64_t unit) { return with_element(2, element, unit); };
  expect_parts(refused_after(good, edge(0, 3)), {"b.safetensors", "edge 0", "1 and 3", "0 to 2"});
  expect_parts(refused_after(good, edge(0, 1)), {"b.safetensors", "edge 0", "unit 1 with itself"});
  expect_parts(refused_after(good, edge(0, 0)), {"b.safetensors", "edge 1", "0 and 1 again", "edge 0"});
  expect_parts(refused_after(good, with_element(1, 1, nan)), {"couplings", "element 1", "finite"});
  expect_parts(refused_after(good, with_element(0, 2, nan)), {"bias", "element 2", "finite"});
  expect_parts(refused_after(good, [](Tensors& t) { t.arrays[1].second.shape = {1, 2}; }), {"couplings", "[2]"});
  expect_parts(refused_after(good, [](Tensors& t) { t.arrays[2].second.shape = {4}; }), {"edges", "[edges, 2]", "[4]"});
  expect_parts(refused_after(good, [](Tensors& t) { t.arrays[2].second.type = ElementType::kFloat64; }),
               {"edges", "integers", "float64"});
  expect_parts(refused_after(good,
                             [](Tensors& t) {
                               t.arrays[2].second.type = ElementType::kInt64;
                               with_element(2, 1, std::int64_t{-1})(t);
                             }),
               {"edge 0", "-1", "0 or more"});
  expect_parts(refused_after(good, [](Tensors& t) { t.arrays.erase(t.arrays.begin()); }), {"bias", "none"});
  expect_parts(refused_after(good, [](Tensors& t) { t.arrays.pop_back(); }), {"edges or matrix", "'dense'", "none"});
}

TEST(BoltzmannFile, AMatrixThatIsNoMachineIsRefused) {
  const Tensors good = foreign_matrix(kMatrix);
  expect_parts(refused_after(good, with_element(1, 3, 7.0f)),
               {"b.safetensors", "symmetric", "7 at (0, 3)", "2 at (3, 0)"});
  expect_parts(refused_after(good, with_element(1, 5, 7.0f)), {"diagonal", "7 at (1, 1)"});
  expect_parts(refused_after(good, [](Tensors& t) { t.arrays[1].second.shape = {2, 8}; }), {"matrix", "[4, 4]"});
  expect_parts(refused_after(good,
                             [](Tensors& t) {
                               t.metadata["units"] = "potts";
                               t.metadata["letters"] = "2";
                               with_element(1, 1, 5.0f)(t);
                               with_element(1, 4, 5.0f)(t);
                             }),
               {"one site", "5 at (0, 1)", "site 0"});
}

TEST(BoltzmannFile, MetadataThatDoesNotFitIsRefused) {
  const Tensors good = tensors_of(random_boltzmann(Potts{6, 3}, site_graph(dense_graph(2), 3), 1.0, 1));
  const auto with = [&](const std::string& key, const std::string& value) {
    return refused_after(good, [&](Tensors& t) { t.metadata[key] = value; });
  };
  expect_parts(refused_after(foreign_edges(), [](Tensors& t) { t.metadata["units"] = "gaussian"; }),
               {"b.safetensors", "bernoulli, spin or potts", "gaussian"});
  expect_parts(with("units", "quantum"), {"b.safetensors", "'quantum'"});
  expect_parts(with("units", "spin"), {"couplings", "[15]", "[9]"});
  expect_parts(with("letters", "4"), {"6 units", "4 letters"});
  expect_parts(with("letters", "three"), {"'letters'", "whole number", "\"three\""});
  expect_parts(with("visible_units", "4"), {"whole sites of 3", "found 4"});
  expect_parts(with("visible_units", "9"), {"of 6 units", "found 9"});
  expect_parts(refused_after(foreign_edges(), [](Tensors& t) { t.metadata["graph"] = "tree"; }),
               {"'edges'", "\"tree\""});
  expect_parts(with("graph", "edges"), {"edges or matrix", "\"edges\""});
}

}  // namespace
}  // namespace ergodic
