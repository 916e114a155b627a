// Deep belief networks as machines, and in files.
#include "ergodic/model/dbn.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "data/error_message.hpp"
#include "deep_networks.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/store/tensors.hpp"

namespace ergodic {
namespace {

/// As a file has it.
Tensors tensors_of(const Dbn& model) {
  Tensors out;
  if (model.shape().classes > 0) out.metadata["classes"] = std::to_string(model.shape().classes);
  put_parameters(out, model.parameters());
  return out;
}

std::unique_ptr<Machine> machine_of(const Dbn& model) { return kind_named("dbn").read(tensors_of(model), "d"); }

std::string why_refused(const Tensors& tensors) {
  return message_of<DataError>([&] { kind_named("dbn").read(tensors, "d"); });
}

TEST(DbnMachine, AFileIsReadAsItWasWritten) {
  for (const Dbn& model : test::random_dbns()) {
    const auto machine = machine_of(model);
    EXPECT_TRUE(std::ranges::equal(machine->parameters().values(), model.parameters().values()));
    EXPECT_TRUE(machine->visible() == model.visible_layer());
    EXPECT_EQ(machine->layers().size(), model.depth() + 1);
    Tensors written;
    machine->put(written);
    EXPECT_EQ(written.metadata, tensors_of(model).metadata);
  }
}

TEST(DbnMachine, FilesWithoutAllTheirLayersAreRefused) {
  const Dbn model = test::random_dbn({3, {2, 3, 2}, 2, true}, 1.0, 4);
  const auto without = [&](const std::string& name) {
    Tensors out = tensors_of(model);
    std::erase_if(out.arrays, [&](const auto& array) { return array.first == name; });
    return out;
  };
  for (const auto& [name, array] : tensors_of(model).arrays) {
    if (name == "layer3.weights") continue;  // then there are two layers, of which the second does not fit
    EXPECT_NE(why_refused(without(name)).find(name.substr(0, 6)), std::string::npos) << name;
  }
  EXPECT_FALSE(why_refused(without("layer3.weights")).empty());
  Tensors odd = tensors_of(model);
  for (auto& [name, array] : odd.arrays) {
    if (name == "layer2.weights") array.shape = {3, 2};
  }
  EXPECT_NE(why_refused(odd).find("layer2.weights"), std::string::npos);
  for (const char* classes : {"", "1", "5", "x", "99999999999999999999"}) {
    Tensors other = tensors_of(model);
    other.metadata["classes"] = classes;
    EXPECT_NE(why_refused(other).find("'classes' from 2 to 4"), std::string::npos) << classes;
  }
  Tensors unlabelled = tensors_of(model);
  unlabelled.metadata.erase("classes");
  EXPECT_NE(why_refused(unlabelled).find("layer3"), std::string::npos);
}

TEST(DbnMachine, ClassesAreThoseOfTheFreeEnergyAtTheMeansBelow) {
  const Dbn model = test::random_dbn({4, {3, 2}, 3}, 1.0, 2);
  Dataset rows{"rows", Bits(16, 4)};
  for (std::size_t r = 0; r < 16; ++r) {
    for (std::size_t i = 0; i < 4; ++i) rows.bits().set(r, i, (r >> i) & 1u);
  }
  const Matrix<float> found = *machine_of(model)->class_probabilities(rows, {});
  const Rbm& top = model.top();
  for (std::size_t r = 0; r < 16; ++r) {
    std::vector<double> means(3), p(3);
    for (std::size_t j = 0; j < 3; ++j) {
      double field = model.stage(0).hidden_bias()[j];
      for (std::size_t i = 0; i < 4; ++i) field += (r >> i) & 1u ? model.stage(0).weights()(i, j) : 0.0;
      means[j] = 1.0 / (1.0 + std::exp(-field));
    }
    double sum = 0.0;
    for (std::size_t c = 0; c < 3; ++c) {
      double log = top.visible_bias()[3 + c];
      for (std::size_t j = 0; j < 2; ++j) {
        double field = top.hidden_bias()[j] + top.weights()(3 + c, j);
        for (std::size_t i = 0; i < 3; ++i) field += means[i] * top.weights()(i, j);
        log += std::log1p(std::exp(field));
      }
      sum += p[c] = std::exp(log);
    }
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(found(r, c), p[c] / sum, 1e-5);
  }
  EXPECT_FALSE(machine_of(test::random_dbns()[0])->class_probabilities(rows, {}));
}

TEST(DbnMachine, ChainsThatStartAtRowsKeepThem) {
  for (const Dbn& model : test::random_dbns()) {
    const auto machine = machine_of(model);
    const State rows = test::all_states(model.visible_layer());
    const Chains chains = machine->start_at(rows, Key{1}, {});
    EXPECT_TRUE(machine->visible_of(chains) == rows);
    ASSERT_EQ(chains.layers.size(), model.depth() + 1);
    for (std::size_t l = 1; l < chains.layers.size(); ++l)
      EXPECT_EQ(chains.layers[l].units(), model.shape().hidden[l - 1]);
  }
}

TEST(DbnMachine, KeepsValuesByGibbsAlone) {
  const auto machine = machine_of(test::random_dbns()[0]);
  SamplingOptions options;
  options.kernel.fixed = Bits(1, 4);
  options.kernel.fixed.set(0, 1, true);
  EXPECT_NO_THROW(machine->sampling(options, {}));
  options.sampler = "metropolis";
  EXPECT_THROW(machine->sampling(options, {}), UsageError);
  options.kernel.fixed = {};
  EXPECT_NO_THROW(machine->sampling(options, {}));
  options.sampler = kAnnealing;
  EXPECT_THROW(machine->sampling(options, {}), UsageError);
}

}  // namespace
}  // namespace ergodic
