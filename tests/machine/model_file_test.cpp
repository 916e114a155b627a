#include "ergodic/machine/model_file.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/format/file.hpp"
#include "ergodic/machine/rbm.hpp"
#include "ergodic/store/checkpoint.hpp"
#include "ergodic/store/tensors.hpp"
#include "store/machines.hpp"

namespace ergodic {
namespace {

/// What another program might write: the layout, and nothing of ours.
Tensors foreign_file(const Rbm& model) {
  Tensors tensors;
  tensors.metadata = {{"format", "ergodic-model"}, {"version", "1"}, {"model", "rbm"}};
  put_parameters(tensors, model.parameters());
  return tensors;
}

ModelFile loaded(const Tensors& tensors) {
  const auto path = fresh_path("m.safetensors");
  write_safetensors(path, tensors);
  return load_model(path);
}

/// The message with which a foreign file is refused after a change.
template <class Change>
std::string refused_after(const Change& change) {
  Tensors tensors = foreign_file(random_machine(Bernoulli{3}, Bernoulli{2}));
  change(tensors);
  return refusal([&] { loaded(tensors); });
}

const Rbm& rbm_in(const ModelFile& file) {
  const Rbm* rbm = model_in<Rbm>(*file.machine);
  if (!rbm) throw std::logic_error("not an RBM");
  return *rbm;
}

Array& array_in(Tensors& tensors, const std::string& name) {
  for (auto& [found, array] : tensors.arrays) {
    if (found == name) return array;
  }
  throw std::logic_error("no array " + name);
}

TEST(ModelFile, EveryPairOfUnitTypesComesBackBitForBit) {
  const auto path = fresh_path("m.safetensors");
  const std::map<std::string, std::string> notes{{"picture", "1x67"}, {"note", "\"quoted\" \xc3\xa9"}};
  for_each_pair_of_layers([&](const Layer& visible, const Layer& hidden) {
    const Rbm model = random_machine(visible, hidden);
    save_model(path, RbmMachine(model), notes);
    const ModelFile file = load_model(path);
    EXPECT_TRUE(file.verified);
    EXPECT_EQ(name_of(rbm_in(file).visible()), name_of(visible));
    EXPECT_EQ(name_of(rbm_in(file).hidden()), name_of(hidden));
    EXPECT_EQ(letters_of(rbm_in(file).visible()), letters_of(visible));
    EXPECT_EQ(letters_of(rbm_in(file).hidden()), letters_of(hidden));
    const Rbm& loaded = rbm_in(file);
    EXPECT_TRUE(same_bits(loaded.parameters().values(), model.parameters().values()));
    // What is derived from the parameters comes back too: the visible means use the transposed weights.
    const State given = model.make_state(Rbm::kHidden, 2);
    EXPECT_EQ(loaded.conditional_means(Rbm::kVisible, given, {}), model.conditional_means(Rbm::kVisible, given, {}));
    EXPECT_EQ(file.notes, notes);
  });
}

TEST(ModelFile, ExtremeFloatsComeBack) {
  const auto path = fresh_path("m.safetensors");
  Rbm model(Bernoulli{2}, Bernoulli{2});
  model.update(
      [](Parameters& parameters) {
        using Limits = std::numeric_limits<float>;
        const std::vector<float> extreme{-0.0f, Limits::denorm_min(), 1e15f, -1e15f};
        std::copy(extreme.begin(), extreme.end(), parameters["weights"].begin());
      },
      Context{});
  save_model(path, RbmMachine(model), {});
  EXPECT_TRUE(same_bits(rbm_in(load_model(path)).parameters().values(), model.parameters().values()));
}

TEST(ModelFile, TheSameMachineAndNotesGiveTheSameBytes) {
  const auto path = fresh_path("m.safetensors");
  const Rbm model = random_machine(Bernoulli{9}, Spin{4});
  save_model(path, RbmMachine(model), {{"a", "1"}, {"b", "2"}});
  const auto first = read_file(path);
  save_model(path, *load_model(path).machine, load_model(path).notes);
  EXPECT_EQ(read_file(path), first);
  save_model(path, RbmMachine(model), {{"a", "1"}, {"b", "3"}});
  EXPECT_NE(read_file(path), first);
}

TEST(ModelFile, NotesCannotPoseAsTheFilesOwnWords) {
  const auto path = fresh_path("m.safetensors");
  save_model(path, RbmMachine(random_machine(Spin{2}, Spin{2})),
             {{"visible", "bernoulli"}, {"digest", "x"}, {"format", "x"}});
  const ModelFile file = load_model(path);
  EXPECT_TRUE(file.verified);
  EXPECT_EQ(name_of(rbm_in(file).visible()), "spin");
  EXPECT_TRUE(file.notes.empty());
}

TEST(ModelFile, EveryFlippedBitIsRefused) {
  const auto path = fresh_path("m.safetensors");
  save_model(path, RbmMachine(random_machine(Bernoulli{2}, Spin{2})), {{"picture", "1x2"}});
  for_each_bit_flip(read_file(path), [&](const ByteVector& damaged, std::size_t) {
    put_bytes(path, damaged);
    EXPECT_TRUE(refuses([&] { load_model(path); }));
  });
}

TEST(ModelFile, EveryTruncationIsRefused) {
  const auto path = fresh_path("m.safetensors");
  save_model(path, RbmMachine(random_machine(Bernoulli{2}, Spin{2})), {{"picture", "1x2"}});
  for_each_truncation(read_file(path), [&](const ByteVector& part) {
    put_bytes(path, part);
    EXPECT_TRUE(refuses([&] { load_model(path); }));
  });
}

TEST(ModelFile, AForeignFileIsTakenUnverified) {
  const Rbm model = random_machine(Bernoulli{3}, Bernoulli{2});
  Tensors tensors = foreign_file(model);
  tensors.metadata["training"] = "by hand";
  const ModelFile file = loaded(tensors);
  EXPECT_FALSE(file.verified);
  EXPECT_TRUE(same_bits(rbm_in(file).parameters().values(), model.parameters().values()));
  EXPECT_EQ(file.notes, (std::map<std::string, std::string>{{"training", "by hand"}}));
}

TEST(ModelFile, UnitsAreBernoulliUnlessTheFileSaysOtherwise) {
  Tensors tensors = foreign_file(random_machine(Bernoulli{3}, Bernoulli{2}));
  EXPECT_EQ(name_of(rbm_in(loaded(tensors)).visible()), "bernoulli");
  EXPECT_EQ(name_of(rbm_in(loaded(tensors)).hidden()), "bernoulli");
  tensors.metadata["hidden"] = "spin";
  EXPECT_EQ(name_of(rbm_in(loaded(tensors)).visible()), "bernoulli");
  EXPECT_EQ(name_of(rbm_in(loaded(tensors)).hidden()), "spin");
}

TEST(ModelFile, TensorsMayComeInAnyOrder) {
  const Rbm model = random_machine(Bernoulli{3}, Bernoulli{2});
  Tensors tensors = foreign_file(model);
  std::swap(tensors.arrays.front(), tensors.arrays.back());
  EXPECT_TRUE(same_bits(rbm_in(loaded(tensors)).parameters().values(), model.parameters().values()));
}

TEST(ModelFile, DoublesAreRoundedToFloats) {
  const Rbm model = random_machine(Bernoulli{3}, Bernoulli{2});
  Tensors tensors = foreign_file(model);
  for (auto& [name, array] : tensors.arrays) {
    const auto values = model.parameters()[name];
    array = array_of(std::vector<double>(values.begin(), values.end()), array.shape);
  }
  EXPECT_TRUE(same_bits(rbm_in(loaded(tensors)).parameters().values(), model.parameters().values()));
}

TEST(ModelFile, MetadataThatIsNotAModelsIsRefused) {
  expect_parts(refused_after([](Tensors& t) { t.metadata["format"] = "ergodic-checkpoint"; }),
               {"m.safetensors", "ergodic-model", "ergodic-checkpoint"});
  expect_parts(refused_after([](Tensors& t) { t.metadata.erase("format"); }), {"m.safetensors", "'format'"});
  expect_parts(refused_after([](Tensors& t) { t.metadata["version"] = "2"; }), {"m.safetensors", "version", "\"2\""});
  expect_parts(refused_after([](Tensors& t) { t.metadata["model"] = "quantum"; }),
               {"m.safetensors", "one of the models rbm, boltzmann, neural, hopfield", "\"quantum\""});
  expect_parts(refused_after([](Tensors& t) { t.metadata.erase("model"); }), {"'model'"});
  expect_parts(refused_after([](Tensors& t) { t.metadata["visible"] = "quantum"; }),
               {"'visible'", "'quantum'", "spin"});
  expect_parts(refused_after([](Tensors& t) { t.metadata["visible"] = "potts"; }), {"'visible'", "potts", "letters"});
  expect_parts(refused_after([](Tensors& t) { t.metadata["hidden_letters"] = "two"; }),
               {"'hidden_letters'", "\"two\""});
  expect_parts(refused_after([](Tensors& t) { t.metadata["hidden"] = ""; }), {"'hidden'", "bernoulli"});
}

TEST(ModelFile, TensorsThatAreMissingOrDisagreeAreRefused) {
  expect_parts(refused_after([](Tensors& t) { t.arrays.erase(t.arrays.begin()); }), {"m.safetensors", "weights"});
  expect_parts(refused_after([](Tensors& t) { t.arrays.pop_back(); }), {"hidden_bias", "none"});
  expect_parts(refused_after([](Tensors& t) {
                 array_in(t, "weights").shape = {2, 3};
               }),
               {"visible_bias", "[2]", "[3]"});
  expect_parts(refused_after([](Tensors& t) { array_in(t, "weights").shape = {6}; }), {"weights", "1 dimension"});
  expect_parts(refused_after([](Tensors& t) { array_in(t, "weights").shape = {3, 2, 1}; }), {"weights", "3 dimension"});
  expect_parts(refused_after([](Tensors& t) { array_in(t, "hidden_bias").shape = {1, 2}; }), {"hidden_bias", "[1, 2]"});
  for (const std::vector<std::size_t>& shape : {std::vector<std::size_t>{0, 2}, {3, 0}, {0, 0}}) {
    expect_parts(refused_after([&](Tensors& t) {
                   array_in(t, "weights") = {ElementType::kFloat32, shape, {}};
                 }),
                 {"weights", "at least 1"});
  }
}

TEST(ModelFile, ElementsThatAreNoFiniteFloatsAreRefused) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const char* name : {"weights", "visible_bias", "hidden_bias"}) {
    const auto spoil = [&](Tensors& t) { std::memcpy(array_in(t, name).bytes.data() + 4, &nan, sizeof nan); };
    expect_parts(refused_after(spoil), {"m.safetensors", name, "element 1", "finite"});
    const auto retype = [&](Tensors& t) { array_in(t, name).type = ElementType::kUInt32; };
    expect_parts(refused_after(retype), {"m.safetensors", name, "uint32"});
  }
}

TEST(ModelFile, ACheckpointIsRefused) {
  const auto path = fresh_path("c");
  save_checkpoint(path, random_machine(Bernoulli{4}, Bernoulli{3}).parameters(), {}, {});
  EXPECT_THROW(load_model(path), DataError);
}

TEST(ModelFile, AMissingFileIsMissingInput) { EXPECT_THROW(load_model(fresh_path("nothing")), NoInputError); }

TEST(ModelFile, AFailedSaveLeavesTheFileThatIsThere) {
  const auto path = fresh_path("m.safetensors");
  const Rbm model = random_machine(Bernoulli{2}, Bernoulli{2});
  save_model(path, RbmMachine(model), {});
  const auto before = read_file(path);
  EXPECT_THROW(save_model(path, RbmMachine(model), {{"note", "\xff is not UTF-8"}}), UsageError);
  EXPECT_EQ(read_file(path), before);
}

}  // namespace
}  // namespace ergodic
