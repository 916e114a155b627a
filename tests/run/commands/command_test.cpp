#include "ergodic/run/commands/command.hpp"

#include <gtest/gtest.h>

#include <set>

#include "data/error_message.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/run/commands/request.hpp"

namespace ergodic {
namespace {

struct Request {
  std::string data;
  std::filesystem::path file;
  std::uint64_t epochs = 20;
};

Command some_command() {
  Spec<Request> spec;
  spec.add("data", &Request::data, "the data")
      .required()
      .add("file", &Request::file, "a file")
      .positional()
      .required()
      .add("epochs", &Request::epochs, "how many")
      .range(1, 1000);
  return command_of("try", "tries", "ergodic try", spec, [](const Request& request, bool json, const Context&) {
    return Outcome{request.data + (json ? "{}" : "") + std::to_string(request.epochs), "", false};
  });
}

TEST(Commands, WhatIsRequiredMustBeGiven) {
  const Command command = some_command();
  const auto refused = [&](const std::map<std::string, std::string>& texts) {
    return message_of<UsageError>([&] { settings_from(command, texts); });
  };
  expect_parts(refused({{"file", "f"}}), {"--data", "required"});
  expect_parts(refused({{"data", "d"}}), {"FILE", "required"});
  expect_parts(refused({{"data", ""}, {"file", "f"}}), {"--data", "required"});
  expect_parts(refused({{"data", "d"}, {"file", "f"}, {"speed", "1"}}), {"unknown option --speed"});
  expect_parts(refused({{"data", "d"}, {"file", "f"}, {"epochs", "0"}}), {"--epochs", "from 1 to 1000", "'0'"});
  EXPECT_EQ(settings_from(command, {{"data", "d"}, {"file", "f"}}).size(), 2u);
}

TEST(Commands, RunWithTheValuesOfTheirOptions) {
  const Command command = some_command();
  const Settings settings = settings_from(command, {{"data", "d"}, {"file", "f"}, {"epochs", "7"}});
  EXPECT_EQ(command.run(settings, false, {}).output, "d7");
  EXPECT_EQ(command.run({{"data", "x"}}, true, {}).output, "x{}20");
}

TEST(Commands, HaveNamesOfTheirOwnAndOptionsForEveryKind) {
  std::set<std::string> names;
  for (const Command& command : all_commands()) {
    EXPECT_TRUE(names.insert(command.name).second) << command.name;
    EXPECT_FALSE(command.summary.empty());
    EXPECT_EQ(command.example.find("ergodic " + command.name), 0u) << command.example;
    for (const MachineKind* kind : machine_kinds()) {
      std::set<std::string> options;
      for (const Option& option : command.options(kind->name)) {
        EXPECT_TRUE(options.insert(option.name).second) << command.name << " --" << option.name;
        EXPECT_FALSE(option.help.empty()) << command.name << " --" << option.name;
      }
    }
  }
}

TEST(Commands, OptionsOfOtherKindsOfMachineAreRefusedByName) {
  const Command train = train_command();
  const auto refused = [&](const std::map<std::string, std::string>& texts) {
    return message_of<UsageError>([&] { settings_from(train, texts); });
  };
  expect_parts(refused({{"data", "d"}, {"out", "o"}, {"layers", "3"}}), {"--layers", "--model neural", "--model rbm"});
  expect_parts(refused({{"data", "d"}, {"out", "o"}, {"model", "hopfield"}, {"epochs", "3"}}),
               {"--epochs", "--model hopfield"});
  expect_parts(refused({{"data", "d"}, {"out", "o"}, {"model", "quantum"}}), {"--model", "rbm", "'quantum'"});
  EXPECT_NO_THROW(settings_from(train, {{"data", "d"}, {"out", "o"}, {"model", "neural"}, {"layers", "3"}}));
  EXPECT_EQ(kind_asked_for(train, "neural"), "neural");
  EXPECT_EQ(kind_asked_for(train, ""), "rbm");
  EXPECT_EQ(kind_asked_for(sample_command(), "neural"), "");
}

}  // namespace
}  // namespace ergodic
