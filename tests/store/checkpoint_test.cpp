#include "ergodic/store/checkpoint.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/format/file.hpp"
#include "ergodic/store/sealed.hpp"
#include "ergodic/store/tensors.hpp"
#include "store/machines.hpp"

namespace ergodic {
namespace {

const SettingTexts kSettings{{"batch", "10"}, {"data", "a \"path\".npy"}, {"seed", "3"}};

/// A state in which no field has its default.
TrainingState some_state(const Rbm& model, std::size_t chains) {
  TrainingState state;
  state.update = (std::uint64_t{1} << 60) + 7;
  const Draw draw = Key{2}.at(Purpose::kTest);
  for (std::uint32_t k = 0; k < model.parameters().values().size(); ++k) {
    state.learner.velocity.push_back(static_cast<float>(draw.normal(1, k)));
  }
  for (std::uint32_t k = 0; k < units_of(model.hidden()); ++k) state.learner.offsets.push_back(draw.uniform(2, k));
  if (chains > 0) state.learner.chains = independent_start(model, chains, Key{4}, {});
  state.learner.chains.sweep = chains > 0 ? 12345 : 0;
  state.records = {{0, 0.0, {}}, {600, 1.5, {{"error", 0.1}, {"log_likelihood", -1.0 / 3.0}}}};
  return state;
}

/// The same of a run that has been rescued.
TrainingState rescued_state(const Rbm& model, std::size_t chains) {
  TrainingState state = some_state(model, chains);
  state.rescues = {{1200, 600}, {900, 600}};
  state.good = {600, {}, state.learner};
  for (std::size_t k = 0; k < model.parameters().values().size(); ++k) {
    state.good->parameters.push_back(static_cast<float>(k));
  }
  for (float& v : state.good->learner.velocity) v *= 0.5f;
  state.good->learner.chains.sweep += 1;
  return state;
}

void expect_same(const LearnerState& a, const LearnerState& b) {
  EXPECT_TRUE(same_bits(a.velocity, b.velocity));
  EXPECT_EQ(a.offsets, b.offsets);
  EXPECT_EQ(a.chains.layers, b.chains.layers);
  EXPECT_EQ(a.chains.sweep, b.chains.sweep);
  EXPECT_EQ(a.chains.first_chain, b.chains.first_chain);
}

void expect_same(const TrainingState& a, const TrainingState& b) {
  EXPECT_EQ(a.update, b.update);
  expect_same(a.learner, b.learner);
  ASSERT_EQ(a.records.size(), b.records.size());
  for (std::size_t r = 0; r < a.records.size(); ++r) {
    EXPECT_EQ(a.records[r].update, b.records[r].update);
    EXPECT_EQ(a.records[r].epoch, b.records[r].epoch);
    EXPECT_EQ(a.records[r].values, b.records[r].values);
  }
}

/// A checkpoint of a small run, and what it takes to load it again.
struct Saved {
  explicit Saved(const Rbm& trained, std::size_t chains = 5)
      : path(fresh_path("c")), model(trained), state(some_state(trained, chains)), start(start_of(trained, chains)) {
    save();
  }
  void save() const { save_checkpoint(path, model.parameters(), state, kSettings); }
  Checkpoint load() const { return load_as(start, kSettings); }
  Checkpoint load_as(const Checkpoint& run, const SettingTexts& settings) const {
    return load_checkpoint(
        path, run.parameters, [&](std::uint64_t) { return run.state; }, settings);
  }

  /// Of a run that has just begun: all zero.
  static Checkpoint start_of(const Rbm& model, std::size_t chains) {
    const Rbm empty(model.visible(), model.hidden());
    Checkpoint out{empty.parameters(), {}};
    out.state.learner.velocity.resize(empty.parameters().values().size());
    out.state.learner.offsets.resize(units_of(model.hidden()));
    if (chains > 0) out.state.learner.chains = independent_start(empty, chains, Key{1}, {});
    return out;
  }

  /// Changes the content of the file, and seals it again.
  template <class Change>
  void change(const Change& edit) const {
    Tensors tensors = read_safetensors(path);
    edit(tensors);
    write_sealed(path, std::move(tensors));
  }
  Array& array(Tensors& tensors, const std::string& name) const {
    for (auto& [found, values] : tensors.arrays) {
      if (found == name) return values;
    }
    throw std::logic_error("no array " + name);
  }

  std::filesystem::path path;
  Rbm model;
  TrainingState state;
  Checkpoint start;
};

TEST(Checkpoint, EveryFieldComesBack) {
  for_each_pair_of_layers([](const Layer& visible, const Layer& hidden) {
    Saved saved(random_machine(visible, hidden));
    const Checkpoint loaded = saved.load();
    expect_same(loaded.state, saved.state);
    EXPECT_TRUE(same_bits(loaded.parameters.values(), saved.model.parameters().values()));
  });
}

TEST(Checkpoint, AStateWithoutChainsComesBack) {
  Saved saved(random_machine(Bernoulli{4}, Bernoulli{3}), 0);
  expect_same(saved.load().state, saved.state);
}

TEST(Checkpoint, RescuesAndTheStateToGoBackToComeBack) {
  Saved saved(random_machine(Bernoulli{4}, Bernoulli{3}));
  saved.state = rescued_state(saved.model, 5);
  saved.start.state.good = GoodState{0, std::vector<float>(4 * 3 + 4 + 3), saved.start.state.learner};
  saved.save();
  const TrainingState found = saved.load().state;
  expect_same(found, saved.state);
  ASSERT_EQ(found.rescues.size(), 2u);
  EXPECT_EQ(found.rescues[1].diverged_after, 900u);
  EXPECT_EQ(found.rescues[1].back_to, 600u);
  ASSERT_TRUE(found.good);
  EXPECT_EQ(found.good->update, 600u);
  EXPECT_EQ(found.good->parameters, saved.state.good->parameters);
  expect_same(found.good->learner, saved.state.good->learner);
  saved.change([](Tensors& tensors) { tensors.metadata["rescues"] = "[[1]]"; });
  expect_parts(message_of<DataError>([&] { saved.load(); }), {"rescues"});
}

TEST(Checkpoint, ItsSettingsCanBeRead) {
  Saved saved(random_machine(Bernoulli{4}, Bernoulli{3}));
  EXPECT_EQ(outline_of_checkpoint(saved.path).settings, kSettings);
}

TEST(Checkpoint, TheGlobalIndexOfTheChainsComesBack) {
  Saved saved(random_machine(Bernoulli{4}, Bernoulli{3}));
  saved.state.learner.chains.first_chain = 64;
  saved.save();
  EXPECT_EQ(saved.load().state.learner.chains.first_chain, 64u);
}

TEST(Checkpoint, ARecordThatIsNotFiniteDoesNotSpoilTheRest) {
  Saved saved(random_machine(Bernoulli{4}, Bernoulli{3}));
  saved.state.records[1].values = {{"error", std::nan("")}, {"log_likelihood", -2.5}};
  saved.save();
  const auto values = saved.load().state.records[1].values;
  ASSERT_EQ(values.size(), 2u);
  EXPECT_TRUE(std::isnan(values[0].second));
  EXPECT_EQ(values[1].second, -2.5);
}

TEST(Checkpoint, TheSameStateGivesTheSameBytes) {
  Saved saved(random_machine(Bernoulli{4}, Bernoulli{3}));
  const auto first = read_file(saved.path);
  const Checkpoint loaded = saved.load();
  save_checkpoint(saved.path, loaded.parameters, loaded.state, kSettings);
  EXPECT_EQ(read_file(saved.path), first);
}

TEST(Checkpoint, OtherSettingsAreNamedWithBothValues) {
  Saved saved(random_machine(Bernoulli{4}, Bernoulli{3}));
  const auto refused = [&](const SettingTexts& settings) {
    return message_of<UsageError>([&] { saved.load_as(saved.start, settings); });
  };
  SettingTexts settings = kSettings;
  settings["batch"] = "20";
  settings["seed"] = "4";
  const std::string message = refused(settings);
  expect_parts(message, {saved.path.string(), "batch: the checkpoint has 10, this run 20",
                         "seed: the checkpoint has 3, this run 4"});
  EXPECT_EQ(message.find("data"), std::string::npos) << message;
  settings = kSettings;
  settings["epochs"] = "5";
  expect_parts(refused(settings), {"epochs: the checkpoint has nothing, this run 5"});
}

TEST(Checkpoint, ASettingThatThisRunDoesNotHaveIsNamed) {
  Saved saved(random_machine(Bernoulli{4}, Bernoulli{3}));
  SettingTexts settings = kSettings;
  settings.erase("batch");
  expect_parts(message_of<UsageError>([&] { saved.load_as(saved.start, settings); }), {"batch", "10"});
}

TEST(Checkpoint, EveryFlippedBitIsRefused) {
  Saved saved(random_machine(Bernoulli{2}, Spin{2}), 2);
  for_each_bit_flip(read_file(saved.path), [&](const ByteVector& damaged, std::size_t) {
    put_bytes(saved.path, damaged);
    EXPECT_TRUE(refuses([&] { saved.load(); }));
  });
}

TEST(Checkpoint, EveryTruncationIsRefused) {
  Saved saved(random_machine(Bernoulli{2}, Spin{2}), 2);
  for_each_truncation(read_file(saved.path), [&](const ByteVector& part) {
    put_bytes(saved.path, part);
    EXPECT_TRUE(refuses([&] { saved.load(); }));
  });
}

TEST(Checkpoint, OfAnotherShapeIsRefused) {
  const Saved saved(random_machine(Bernoulli{4}, Bernoulli{3}));
  for (const auto& [visible, hidden] : {std::pair{3, 4}, std::pair{4, 2}, std::pair{5, 3}}) {
    const Rbm other(Bernoulli{static_cast<std::size_t>(visible)}, Bernoulli{static_cast<std::size_t>(hidden)});
    EXPECT_THROW(saved.load_as(Saved::start_of(other, 5), kSettings), DataError);
  }
}

TEST(Checkpoint, AModelIsNotMistakenForOne) {
  Saved saved(random_machine(Bernoulli{4}, Bernoulli{3}));
  Tensors model;
  put_model_kind(model, "rbm");
  put_parameters(model, saved.model.parameters());
  write_sealed(saved.path, model);
  expect_parts(refusal([&] { saved.load(); }), {"ergodic-checkpoint", "ergodic-model"});
}

TEST(Checkpoint, NumbersThatAreNoneAreRefused) {
  for (const char* key : {"update", "chains", "sweep"}) {
    for (const char* text : {"", "-1", "1.0", "x", "18446744073709551616"}) {
      Saved saved(random_machine(Bernoulli{4}, Bernoulli{3}));
      saved.change([&](Tensors& t) { t.metadata[key] = text; });
      expect_parts(refusal([&] { saved.load(); }), {saved.path.string(), key});
    }
    Saved saved(random_machine(Bernoulli{4}, Bernoulli{3}));
    saved.change([&](Tensors& t) { t.metadata.erase(key); });
    expect_parts(refusal([&] { saved.load(); }), {saved.path.string(), key});
  }
}

TEST(Checkpoint, RecordsThatAreNoneAreRefused) {
  for (const char* text : {"", "[", "7", "[[1]]", "[[1,2,3]]", "[[\"1\",0.0,[]]]", "{\"a\":1}"}) {
    SCOPED_TRACE(text);
    Saved saved(random_machine(Bernoulli{4}, Bernoulli{3}));
    saved.change([&](Tensors& t) { t.metadata["records"] = text; });
    expect_parts(refusal([&] { saved.load(); }), {saved.path.string(), "records"});
  }
}

TEST(Checkpoint, ChainsThatDisagreeWithTheirCountAreRefused) {
  for (const char* count : {"4", "6", "1000000000000"}) {
    Saved saved(random_machine(Bernoulli{4}, Bernoulli{3}));
    saved.change([&](Tensors& t) { t.metadata["chains"] = count; });
    expect_parts(refusal([&] { saved.load(); }), {"5 chains", count});
  }
}

// With two words for each chain, 2^63 chains take 2^64 words: none, if the product overflows.
TEST(Checkpoint, ACountOfChainsThatOverflowsIsRefused) {
  Saved saved(random_machine(Bernoulli{65}, Bernoulli{65}));
  saved.change([&](Tensors& t) {
    t.metadata["chains"] = "9223372036854775808";
    for (const char* name : {"chains.0", "chains.1"}) saved.array(t, name) = {ElementType::kUInt64, {0, 2}, {}};
  });
  EXPECT_THROW(saved.load(), DataError);
}

// Loops over set bits trust that there are none beyond the last unit.
TEST(Checkpoint, BitsBeyondTheLastUnitAreRefused) {
  for (const char* name : {"chains.0", "chains.1"}) {
    Saved saved(random_machine(Bernoulli{4}, Bernoulli{3}));
    saved.change([&](Tensors& t) { saved.array(t, name).bytes[7] = std::byte{0x80}; });
    EXPECT_THROW(saved.load(), DataError) << name;
  }
}

TEST(Checkpoint, WhatIsNotFiniteIsRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const float nan_float = std::numeric_limits<float>::quiet_NaN();
  for (const char* name : {"weights", "velocity", "offsets"}) {
    Saved saved(random_machine(Bernoulli{4}, Bernoulli{3}));
    saved.change([&](Tensors& t) {
      Array& array = saved.array(t, name);
      if (array.type == ElementType::kFloat64) std::memcpy(array.bytes.data(), &nan, sizeof nan);
      if (array.type == ElementType::kFloat32) std::memcpy(array.bytes.data(), &nan_float, sizeof nan_float);
    });
    EXPECT_THROW(saved.load(), DataError) << name;
  }
}

TEST(Checkpoint, AMissingFileIsMissingInput) {
  EXPECT_THROW(load_checkpoint(fresh_path("nothing"), {}, {}, {}), NoInputError);
}

}  // namespace
}  // namespace ergodic
