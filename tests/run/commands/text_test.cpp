#include "ergodic/run/commands/text.hpp"

#include <gtest/gtest.h>

#include "brute_force.hpp"
#include "ergodic/machine/model_file.hpp"
#include "ergodic/machine/rbm.hpp"
#include "ergodic/run/commands/command.hpp"
#include "ergodic/run/commands/json.hpp"
#include "ergodic/run/sample.hpp"
#include "format/damage.hpp"

namespace ergodic {
namespace {

MixingReport report_of(std::uint64_t count, std::uint64_t sweeps, const Context& context = {}) {
  const RbmMachine machine(test::random_machine(Bernoulli{5}, Bernoulli{4}, 0.3, 6));
  SamplingOptions options;
  options.sweeps = sweeps;
  return *sample(machine, options, {count, {}, {}}, {}, Key{3}, context).mixing;
}

TEST(Text, AShortRunIsNotJudged) {
  for (const std::uint64_t sweeps : {1u, 2u, 14u}) {
    EXPECT_NE(text_of(report_of(10, sweeps)).find("the run is too short to judge"), std::string::npos);
    EXPECT_TRUE(mixed_of(report_of(10, sweeps)).is_null());
  }
}

TEST(Text, OfMixingIsTheSameForAnyNumberOfThreads) {
  const auto all_of = [](const MixingReport& report) { return text_of(report) + details_of(report); };
  const std::string alone = all_of(report_of(50, 60));
  EXPECT_NE(alone.find("free energy"), std::string::npos);
  EXPECT_NE(alone.find("activity"), std::string::npos);
  for (const std::size_t count : {1u, 2u, 3u}) {
    Threads threads(count);
    EXPECT_EQ(all_of(report_of(50, 60, Context{&threads})), alone);
  }
}

TEST(Text, AStoppedRunIsNotJudged) {
  struct Impatient : Observer {
    std::uint64_t seen = 0;
    void progress(const Progress& p) override { seen = p.done; }
    bool stop_requested() override { return seen >= 90; }
  } observer;
  const std::filesystem::path folder = fresh_path("");
  const std::filesystem::path model = folder / "stopped.safetensors", out = folder / "stopped.npy";
  save_model(model, RbmMachine(test::random_machine(Bernoulli{5}, Bernoulli{4}, 0.3, 6)), {});
  const Outcome outcome =
      sample_command().run({{"model", model.string()}, {"out", out.string()}, {"sweeps", std::uint64_t{100}}}, true,
                           Context{nullptr, &observer});
  EXPECT_TRUE(outcome.stopped);
  EXPECT_NE(outcome.output.find("\"mixing\": null"), std::string::npos) << outcome.output;
}

}  // namespace
}  // namespace ergodic
