// Neural energies as machines, and in files.
#include "ergodic/model/neural.hpp"

#include <gtest/gtest.h>

#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/machine/machine_of.hpp"
#include "ergodic/machine/model_file.hpp"
#include "ergodic/store/tensors.hpp"
#include "kernels/random_inputs.hpp"
#include "store/machines.hpp"

namespace ergodic {
namespace {

Neural random_neural() {
  Neural model({{0.5f, -1.0f, 2.0f}, {1.0f, 0.25f, 3.0f}}, {5, 4});
  initialise(model, Key{1}, {});
  model.update([](Parameters& p) { p["weights_2"][1] = 0.75f; }, {});
  return model;
}

/// As a file has it.
Tensors tensors_of(const Neural& model) {
  Tensors out;
  out.arrays.emplace_back("mean", array_of(std::span<const float>(model.bowl().mean), {model.bowl().mean.size()}));
  out.arrays.emplace_back("deviation",
                          array_of(std::span<const float>(model.bowl().deviation), {model.bowl().mean.size()}));
  put_parameters(out, model.parameters());
  return out;
}

TEST(NeuralFile, AMachineComesBackAsItWas) {
  const Neural model = random_neural();
  const auto path = fresh_path("n.safetensors");
  save_model(path, *kind_named("neural").read(tensors_of(model), "n"), {{"data", "points"}});
  const ModelFile file = load_model(path);
  ASSERT_NE(model_in<Neural>(*file.machine), nullptr);
  const Neural& back = *model_in<Neural>(*file.machine);
  EXPECT_EQ(back.hidden(), model.hidden());
  EXPECT_EQ(back.bowl().mean, model.bowl().mean);
  EXPECT_EQ(back.bowl().deviation, model.bowl().deviation);
  EXPECT_TRUE(std::ranges::equal(back.parameters().values(), model.parameters().values()));
  EXPECT_EQ(file.notes, (std::map<std::string, std::string>{{"data", "points"}}));
  EXPECT_TRUE(file.verified);
  EXPECT_EQ(file.machine->kind().title, "neural energy");
  const State x(test::random_matrix(7, 3, 2));
  EXPECT_EQ(back.energy(x, {}), model.energy(x, {}));
}

TEST(NeuralFile, WhatDoesNotFitIsRefused) {
  const auto without = [](const std::string& name) {
    Tensors tensors = tensors_of(random_neural());
    std::erase_if(tensors.arrays, [&](const auto& entry) { return entry.first == name; });
    return message_of<DataError>([&] { kind_named("neural").read(tensors, "n"); });
  };
  expect_parts(without("mean"), {"n: ", "mean"});
  expect_parts(without("weights_1"), {"weights_1", "found none"});
  expect_parts(without("bias_1"), {"weights_1"});  // then the second layer must be the output, of one column
}

}  // namespace
}  // namespace ergodic
