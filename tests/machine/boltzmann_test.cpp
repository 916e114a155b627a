#include "ergodic/machine/boltzmann.hpp"

#include <gtest/gtest.h>

#include "boltzmann_machines.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/format/file.hpp"
#include "ergodic/machine/model_file.hpp"
#include "store/machines.hpp"

namespace ergodic {
namespace {

using test::random_boltzmann;

/// Machines on dense and sparse graphs, of each unit type, with and without hidden units.
std::vector<Boltzmann> machines() {
  std::vector<Boltzmann> out;
  for (const Graph& graph : {dense_graph(6), grid_graph(2, 3, Border::kOpen), random_graph(6, 0.0, Key{1})}) {
    out.push_back(random_boltzmann(Bernoulli{6}, graph, 1.0, 1));
    out.push_back(random_boltzmann(Spin{6}, graph, 1.0, 2));
    out.push_back(random_boltzmann(Potts{18, 3}, site_graph(graph, 3), 1.0, 3));
  }
  out.push_back(Boltzmann(Spin{6}, dense_graph(6), 4));
  out.push_back(Boltzmann(Potts{18, 3}, site_graph(grid_graph(2, 3, Border::kOpen), 3), 12));
  return out;
}

const Notes kNotes{{"picture", "2x3"}};

void save(const std::filesystem::path& path, const Boltzmann& machine) {
  save_model(path, BoltzmannMachine(machine), kNotes);
}

Boltzmann load(const std::filesystem::path& path) {
  const ModelFile file = load_model(path);
  EXPECT_EQ(file.notes, kNotes);
  EXPECT_TRUE(file.verified);
  return *model_in<Boltzmann>(*file.machine);
}

TEST(BoltzmannFile, MachinesComeBackBitForBit) {
  const auto path = fresh_path("b.safetensors");
  for (const Boltzmann& machine : machines()) {
    save(path, machine);
    const auto bytes = read_file(path);
    const Boltzmann back = load(path);
    EXPECT_EQ(name_of(back.units()), name_of(machine.units()));
    EXPECT_EQ(letters_of(back.units()), letters_of(machine.units()));
    EXPECT_TRUE(back.graph() == machine.graph());
    EXPECT_EQ(back.visible(), machine.visible());
    EXPECT_TRUE(same_bits(back.parameters().values(), machine.parameters().values()));
    save(path, back);
    EXPECT_EQ(read_file(path), bytes);
  }
}

TEST(BoltzmannFile, EveryFlippedBitAndTruncationIsRefused) {
  const auto path = fresh_path("b.safetensors");
  for (const Boltzmann& machine : {random_boltzmann(Spin{3}, dense_graph(3), 1.0, 1),
                                   random_boltzmann(Bernoulli{3}, grid_graph(1, 3, Border::kOpen), 1.0, 1)}) {
    save(path, machine);
    const auto whole = read_file(path);
    for_each_bit_flip(whole, [&](const ByteVector& damaged, std::size_t) {
      put_bytes(path, damaged);
      EXPECT_TRUE(refuses([&] { load(path); }));
    });
    for_each_truncation(whole, [&](const ByteVector& part) {
      put_bytes(path, part);
      EXPECT_TRUE(refuses([&] { load(path); }));
    });
  }
}

}  // namespace
}  // namespace ergodic
