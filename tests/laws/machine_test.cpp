// Laws of machines. Every row of the list of kinds (machine/kinds.hpp) is held to all of them, each with small machines
// whose distribution is known by sums over all states, or over a fine grid for two real units:
//   it is made from data and learns; stopped in the middle it goes on to the same bytes; its file keeps every byte;
//   its samples follow its distribution; annealing brackets its log Z; and what it says of itself is true.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <ostream>

#include "ergodic/data/planar.hpp"
#include "ergodic/data/synthetic.hpp"
#include "ergodic/format/file.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/machine/model_file.hpp"
#include "ergodic/run/evaluate.hpp"
#include "ergodic/run/fit.hpp"
#include "ergodic/run/inspect.hpp"
#include "ergodic/run/sample.hpp"
#include "format/damage.hpp"
#include "laws/targets.hpp"

namespace ergodic {
namespace {

constexpr Key kKey{11};

/// A small machine of a kind: what makes it, and how it learns.
struct Case {
  std::string title;
  Settings settings;
  Dataset data;
  TrainOptions options;
};

TrainOptions training(std::uint64_t epochs, std::uint64_t batch, double rate) {
  TrainOptions out;
  out.epochs = epochs;
  out.batch = batch;
  out.learning_rate = rate;
  return out;
}

/// Rows of three sites with three letters, of which the first two are always the same.
Dataset letters() {
  Dataset out{"letters", Bits(9, 9)};
  out.letters = 3;
  for (std::size_t r = 0; r < 9; ++r) {
    for (const std::size_t letter : {r % 3, 3 + r % 3, 6 + r / 3}) out.bits().set(r, letter, true);
  }
  return out;
}

/// The cases of each kind, by its name. A new kind of machine has its entry here.
const std::map<std::string_view, std::vector<Case>>& cases() {
  using std::string;
  static const std::map<std::string_view, std::vector<Case>> all{
      {"rbm",
       {{"bernoulli", {{"hidden", std::uint64_t{3}}}, bars_and_stripes(2), training(40, 4, 0.2)},
        {"spin_potts",
         {{"visible-type", string("spin")},
          {"hidden-type", string("potts")},
          {"hidden-letters", std::uint64_t{3}},
          {"hidden", std::uint64_t{2}}},
         bars_and_stripes(2),
         training(400, 4, 0.1)},
        {"potts", {{"visible-type", string("potts")}, {"hidden", std::uint64_t{2}}}, letters(), training(200, 3, 0.2)},
        {"gaussian",
         {{"visible-type", string("gaussian")}, {"hidden", std::uint64_t{3}}},
         eight_gaussians(200, 0),
         training(10, 50, 0.02)}}},
      {"boltzmann",
       {{"dense", {}, bars_and_stripes(2), training(40, 4, 0.2)},
        {"hidden", {{"hidden", std::uint64_t{2}}, {"weight-scale", 0.5}}, bars_and_stripes(2), training(40, 4, 0.2)},
        {"grid",
         {{"visible-type", string("spin")}, {"graph", string("grid:2x2")}},
         bars_and_stripes(2),
         training(40, 4, 0.1)},
        {"letters", {{"visible-type", string("potts")}}, letters(), training(40, 3, 0.1)}}},
      {"neural", {{"plane", {{"layers", Counts{6, 4}}}, eight_gaussians(200, 0), training(6, 50, 0.02)}}},
      {"hopfield",
       {{"hebb", {{"rule", string("hebb")}, {"patterns", std::uint64_t{3}}}, bars_and_stripes(2), {}},
        {"pseudo_inverse", {{"patterns", std::uint64_t{2}}, {"bias", true}}, bars_and_stripes(2), {}},
        {"modern", {{"rule", string("modern")}, {"patterns", std::uint64_t{2}}}, shifting_bars(2), {}}}},
      {"class-rbm", {{"stripes", {{"hidden", std::uint64_t{3}}}, bars_and_stripes(2), training(40, 4, 0.2)}}},
      {"dbn",
       {{"labels", {{"hidden", Counts{3, 4}}}, bars_and_stripes(2), training(200, 4, 0.2)},
        {"three_layers",
         {{"hidden", Counts{3, 3, 2}}, {"without-labels", true}},
         bars_and_stripes(2),
         training(200, 4, 0.2)},
        {"up_down",
         {{"hidden", Counts{3, 4}}, {"up-down-updates", std::uint64_t{100}}},
         bars_and_stripes(2),
         training(200, 4, 0.2)}}},
      {"dbm",
       {{"two", {{"hidden", Counts{3, 2}}}, bars_and_stripes(2), training(200, 4, 0.2)},
        {"three", {{"hidden", Counts{3, 2, 2}}}, bars_and_stripes(2), training(200, 4, 0.2)}}}};
  return all;
}

struct KindCase {
  const MachineKind* kind;
  const Case* example;
};

void PrintTo(const KindCase& c, std::ostream* out) { *out << c.kind->name << " " << c.example->title; }

std::vector<KindCase> all_cases() {
  std::vector<KindCase> out;
  for (const MachineKind* kind : machine_kinds()) {
    const auto found = cases().find(kind->name);
    if (found == cases().end()) continue;
    for (const Case& example : found->second) out.push_back({kind, &example});
  }
  return out;
}

TEST(MachineKinds, EveryKindHasACase) {
  for (const MachineKind* kind : machine_kinds()) EXPECT_TRUE(cases().contains(kind->name)) << kind->name;
}

/// Each case is a test of its own.
class KindLaws : public testing::TestWithParam<KindCase> {
 protected:
  const MachineKind& kind() const { return *GetParam().kind; }
  const Case& example() const { return *GetParam().example; }
  TrainingData data() const { return {fresh()->rows_from(example().data), {}}; }
  std::unique_ptr<Machine> fresh() const { return kind().make(example().settings, example().data, kKey, {}); }
  std::unique_ptr<Machine> trained() const {
    auto out = fresh();
    fit(*out, data(), example().options, kKey, {});
    return out;
  }
  static Samples samples_of(const Machine& machine, std::uint64_t count) {
    SamplingOptions options;
    options.sweeps = 300;
    return sample(machine, options, {count, {}, {}}, {}, kKey, {});
  }
};

std::vector<float> values_of(const Machine& machine) {
  return {machine.parameters().values().begin(), machine.parameters().values().end()};
}
bool same_bytes(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// The distribution of the visible units, by the machine's own free energies.
test::Target distribution_of(const Machine& machine) {
  const auto energy = [&machine](const State& x) { return *machine.free_energies(x, {}); };
  if (real_valued(machine.visible())) return test::integrated(energy, std::vector<std::optional<float>>(2));
  return test::enumerated(machine.visible(), energy);
}

/// log of the sum, or of the integral, of exp(-F) over all visible states.
double log_z_of(const Machine& machine, const test::Target& target) {
  const State x = target.far_start(1);
  return -(*machine.free_energies(x, {}))[0] - target.log_densities(x)[0];
}

TEST_P(KindLaws, LearnsToAHigherLikelihood) {
  const auto before = fresh(), after = trained();
  EXPECT_EQ(same_bytes(values_of(*before), values_of(*after)), !kind().learns());
  if (!kind().learns()) return;
  const auto likelihood = [&](const Machine& machine) {
    return evaluate(machine, machine.rows_from(example().data), {}, kKey, {}).evaluation.log_likelihood->value;
  };
  EXPECT_GT(likelihood(*after), likelihood(*before) + 0.01);
}

TEST_P(KindLaws, GoesOnAfterAStopToTheSameBytes) {
  const TrainingData rows = data();
  const auto whole = trained(), first = fresh(), second = fresh();
  Fit begun(*first, rows, example().options, kKey, {});
  begun.run({}, {}, begun.updates_total() / 3 + 1);
  EXPECT_EQ(begun.finished(), !kind().learns());
  Fit resumed(*second, rows, example().options, kKey, {});
  resumed.restore(first->parameters(), begun.state(), {});
  EXPECT_EQ(resumed.updates_done(), begun.updates_done());
  EXPECT_TRUE(resumed.run({}, {}));
  EXPECT_TRUE(same_bytes(values_of(*second), values_of(*whole)));
}

TEST_P(KindLaws, AFileKeepsEveryByte) {
  const auto path = fresh_path("m.safetensors");
  const auto machine = trained();
  save_model(path, *machine, {{"picture", "2x2"}});
  const auto bytes = read_file(path);
  const ModelFile file = load_model(path);
  EXPECT_TRUE(file.verified);
  EXPECT_EQ(&file.machine->kind(), &kind());
  EXPECT_TRUE(file.machine->same_shape(*machine));
  EXPECT_TRUE(same_bytes(values_of(*file.machine), values_of(*machine)));
  EXPECT_EQ(file.notes.at("picture"), "2x2");
  save_model(path, *file.machine, file.notes);
  EXPECT_EQ(read_file(path), bytes);
}

TEST_P(KindLaws, SamplesFollowItsDistribution) {
  const auto machine = trained();
  const test::Target target = distribution_of(*machine);
  const Samples found = samples_of(*machine, 5000);
  ASSERT_FALSE(found.stopped);
  ASSERT_EQ(found.visible.chains(), 5000u);
  const test::ChiSquare far = target.distance(found.visible);
  EXPECT_GE(far.degrees, 3.0);
  EXPECT_LT(far.value, far.critical());
}

TEST_P(KindLaws, ItsLogZIsTheSumOverItsFreeEnergies) {
  const auto machine = trained();
  // A grid of steps of 0.05 errs by less than 1e-3 for densities no narrower than those of the data, of deviation 0.2.
  const double tolerance = real_valued(machine->visible()) ? 1e-3 : 1e-5;
  EXPECT_NEAR(machine->exact_log_z({})->value, log_z_of(*machine, distribution_of(*machine)), tolerance);
}

TEST_P(KindLaws, AnnealingBracketsItsLogZ) {
  const auto machine = trained();
  const State rows = samples_of(*machine, 500).visible;
  const std::unique_ptr<Path> path = machine->path(rows, {}, {});
  const auto found = spend({1600, 0.0}, *path, rows, kKey, {});
  ASSERT_TRUE(found.has_value());
  const double exact = machine->exact_log_z({})->value;
  EXPECT_LE(found->found.log_z.lower, exact);
  EXPECT_GE(found->found.log_z.upper, exact);
  EXPECT_NEAR(found->found.log_z.value, exact, 4.0 * found->found.log_z.standard_error);
}

TEST_P(KindLaws, SaysWhatItIs) {
  const auto machine = trained();
  const Inspection found = inspect(*machine);
  EXPECT_EQ(found.kind, kind().name);
  EXPECT_EQ(found.title, kind().title);
  EXPECT_TRUE(found.visible == machine->visible());
  EXPECT_EQ(units_of(found.visible), data().train.units());
  EXPECT_EQ(found.parameters, machine->parameters().values().size());
  EXPECT_GT(found.parameters, 0u);
  for (const auto& [slot, range] : found.ranges) EXPECT_LE(range.smallest, range.largest) << slot;
}

INSTANTIATE_TEST_SUITE_P(All, KindLaws, testing::ValuesIn(all_cases()), [](const auto& info) {
  std::string name = std::string(info.param.kind->name) + "_" + info.param.example->title;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace ergodic
