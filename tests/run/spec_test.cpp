#include "ergodic/run/spec.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "data/error_message.hpp"
#include "format/damage.hpp"

namespace ergodic {

enum class Fruit { kApple, kPear };

template <>
struct Names<Fruit> {
  static constexpr std::array<std::pair<Fruit, std::string_view>, 2> kAll{
      {{Fruit::kApple, "apple"}, {Fruit::kPear, "pear"}}};
};

namespace {

using Values = std::map<std::string, std::string>;

struct Request {
  std::string title = "plain";
  std::filesystem::path out;
  bool loud = false;
  std::uint64_t epochs = 20;
  double rate = 0.05;
  Fruit fruit = Fruit::kPear;

  Spec spec() {
    Spec spec;
    spec.group("First")
        .text("title", title, "a title", "TITLE")
        .path("out", out, "a file")
        .incidental()
        .flag("loud", loud, "say more");
    spec.group("Second")
        .count("epochs", epochs, 1, 1000, "how many")
        .number("rate", rate, -0.5, 2.5, "how fast")
        .choice("fruit", fruit, "which");
    return spec;
  }
};

void set(Request& request, const std::string& name, const std::string& value) {
  request.spec().apply({}, {{name, value}});
}

/// The message with which a value is refused.
std::string refused(const std::string& name, const std::string& value) {
  Request request;
  return message_of<UsageError>([&] { set(request, name, value); });
}

TEST(Spec, EveryTypeSetsItsField) {
  Request request;
  const Values given{{"title", "a b"}, {"out", "x/y.png"}, {"loud", "true"},
                     {"epochs", "7"},  {"rate", "1.25"},   {"fruit", "apple"}};
  const Spec spec = request.spec();
  spec.apply({}, given);
  EXPECT_EQ(request.title, "a b");
  EXPECT_EQ(request.out, "x/y.png");
  EXPECT_TRUE(request.loud);
  EXPECT_EQ(request.epochs, 7u);
  EXPECT_EQ(request.rate, 1.25);
  EXPECT_EQ(request.fruit, Fruit::kApple);
  for (const Option& option : spec.options()) EXPECT_EQ(option.get(), given.at(option.name));
}

TEST(Spec, DefaultsAreTheFieldsOwn) {
  Request request;
  const Spec spec = request.spec();
  EXPECT_EQ(spec.find("title")->standard, "plain");
  EXPECT_EQ(spec.find("out")->standard, "");
  EXPECT_EQ(spec.find("epochs")->standard, "20");
  EXPECT_EQ(spec.find("rate")->standard, "0.05");
  EXPECT_EQ(spec.find("fruit")->standard, "pear");
  spec.apply({}, {});
  EXPECT_EQ(request.epochs, 20u);
  EXPECT_EQ(request.rate, 0.05);
  EXPECT_FALSE(request.loud);
}

TEST(Spec, DescribesItsOptions) {
  Request request;
  const Spec spec = request.spec();
  EXPECT_EQ(spec.options().size(), 6u);
  EXPECT_EQ(spec.find("title")->group, "First");
  EXPECT_EQ(spec.find("fruit")->group, "Second");
  EXPECT_EQ(spec.find("title")->placeholder, "TITLE");
  EXPECT_EQ(spec.find("epochs")->written(), "--epochs");
  EXPECT_EQ(spec.find("fruit")->choices, (std::vector<std::string>{"apple", "pear"}));
  EXPECT_EQ(spec.find("nothing"), nullptr);
  for (const Option& option : spec.options()) EXPECT_EQ(option.is_flag(), option.name == "loud") << option.name;
}

TEST(Spec, CountsTakeTheirWholeRange) {
  Request request;
  set(request, "epochs", "1");
  EXPECT_EQ(request.epochs, 1u);
  set(request, "epochs", "1000");
  EXPECT_EQ(request.epochs, 1000u);
  std::uint64_t seed = 1;
  Spec spec;
  spec.count("seed", seed, 0, ~std::uint64_t{0}, "");
  spec.apply({}, {{"seed", "18446744073709551615"}});
  EXPECT_EQ(seed, ~std::uint64_t{0});
  spec.apply({}, {{"seed", "0"}});
  EXPECT_EQ(seed, 0u);
}

TEST(Spec, CountsOutsideTheirRangeAreRefused) {
  for (const char* text : {"0", "1001", "-1", "1.0", "1e2", "", " 1", "1 ", "+1", "0x10", "ten", "1,000",
                           "18446744073709551616", "99999999999999999999999"}) {
    expect_parts(refused("epochs", text), {"--epochs", "from 1 to 1000", std::string("'") + text + "'"});
  }
}

TEST(Spec, NumbersTakeTheirWholeRange) {
  Request request;
  const std::pair<const char*, double> cases[] = {{"-0.5", -0.5}, {"2.5", 2.5}, {"1", 1.0}, {"1e-3", 1e-3}, {"0", 0.0}};
  for (const auto& [text, value] : cases) {
    set(request, "rate", text);
    EXPECT_EQ(request.rate, value);
  }
}

TEST(Spec, NumbersOutsideTheirRangeAreRefused) {
  for (const char* text : {"-0.51", "2.5001", "nan", "NaN", "inf", "-inf", "1e999", "", " 1", "1 ", "+1", "0x1p0",
                           "1,5", "one", "1.0.0"}) {
    expect_parts(refused("rate", text), {"--rate", "from -0.5 to 2.5", std::string("'") + text + "'"});
  }
}

TEST(Spec, NumbersAreWrittenSoThatTheyComeBack) {
  Request request;
  for (const double value : {0.1, 1.0 / 3.0, 1e-300, 2.5, -0.5}) {
    request.rate = value;
    const std::string text = request.spec().find("rate")->get();
    request.rate = 0.0;
    set(request, "rate", text);
    EXPECT_EQ(request.rate, value) << text;
  }
}

TEST(Spec, FlagsAreTrueOrFalse) {
  Request request;
  set(request, "loud", "true");
  EXPECT_TRUE(request.loud);
  set(request, "loud", "false");
  EXPECT_FALSE(request.loud);
  for (const char* text : {"", "yes", "1", "True", "true "}) {
    expect_parts(refused("loud", text), {"--loud", "true or false", std::string("'") + text + "'"});
  }
}

TEST(Spec, OnlyTheChoicesAreTaken) {
  for (const char* text : {"", "plum", "Apple", "apple ", "app"}) {
    expect_parts(refused("fruit", text), {"--fruit", "apple, pear", std::string("'") + text + "'"});
  }
}

TEST(Spec, ARefusedValueLeavesTheField) {
  Request request;
  for (const char* name : {"epochs", "rate", "fruit", "loud"}) {
    EXPECT_THROW(set(request, name, "nonsense"), UsageError);
  }
  EXPECT_EQ(request.epochs, 20u);
  EXPECT_EQ(request.rate, 0.05);
  EXPECT_EQ(request.fruit, Fruit::kPear);
  EXPECT_FALSE(request.loud);
}

TEST(Spec, AnUnknownOptionIsNamed) {
  Request request;
  expect_parts(message_of<UsageError>([&] { set(request, "speed", "1"); }), {"'speed'"});
  expect_parts(message_of<UsageError>([&] { request.spec().apply({{"speed", "1"}}, {}); }), {"'speed'"});
}

TEST(Spec, TheCommandLineOverridesTheConfigFile) {
  Request request;
  request.spec().apply({{"epochs", "5"}, {"rate", "1"}}, {{"epochs", "6"}});
  EXPECT_EQ(request.epochs, 6u);
  EXPECT_EQ(request.rate, 1.0);
}

/// Applies values to an option --data and a positional FILE, both required.
void apply_required(const Values& config, const Values& given) {
  std::string data;
  std::filesystem::path file;
  Spec spec;
  spec.text("data", data, "the data").required().path("file", file, "a file").positional().required();
  spec.apply(config, given);
}

TEST(Spec, WhatIsRequiredMustBeGiven) {
  expect_parts(message_of<UsageError>([] { apply_required({}, {{"file", "f"}}); }), {"--data", "required"});
  expect_parts(message_of<UsageError>([] { apply_required({{"data", "d"}}, {}); }), {"FILE", "required"});
  expect_parts(message_of<UsageError>([] { apply_required({}, {{"data", ""}, {"file", "f"}}); }), {"--data"});
  EXPECT_NO_THROW(apply_required({{"data", "d"}}, {{"file", "f"}}));
}

TEST(Spec, SettingsAreWhatShapesTheResult) {
  Request request;
  request.epochs = 3;
  request.out = "elsewhere";
  const Values expected{{"title", "plain"}, {"loud", "false"}, {"epochs", "3"}, {"rate", "0.05"}, {"fruit", "pear"}};
  EXPECT_EQ(request.spec().settings(), expected);
}

Values config_of(const std::string& text) {
  const auto path = fresh_path("c.conf");
  std::ofstream(path, std::ios::binary) << text;
  return read_config(path);
}

TEST(Config, LinesAreNamesAndValues) {
  const Values expected{{"epochs", "3"}, {"data", "a b=c"}, {"rate", ""}};
  EXPECT_EQ(config_of("epochs = 3\ndata=a b=c\nrate =\n"), expected);
  EXPECT_EQ(config_of("  epochs\t=  3  \r\n\tdata = a b=c\r\nrate="), expected);
}

TEST(Config, CommentsAndBlankLinesAreSkipped) {
  EXPECT_EQ(config_of("# all of it\n\n   \n\t# more\nepochs = 3 # three\n#rate = 1\n"), (Values{{"epochs", "3"}}));
  EXPECT_EQ(config_of(""), Values{});
}

TEST(Config, ALineThatIsNoneIsNamed) {
  for (const char* line : {"epochs", "= 3", "epochs 3", "[section]"}) {
    expect_parts(refusal([&] { config_of(std::string("# a comment\nrate = 1\n") + line + "\n"); }),
                 {"c.conf", "line 3", "name = value", line});
  }
}

TEST(Config, ANameThatStandsTwiceIsNamed) {
  expect_parts(refusal([] { config_of("epochs = 3\n\nepochs = 3\n"); }), {"c.conf", "line 3", "'epochs'", "twice"});
}

TEST(Config, AMissingFileIsMissingInput) { EXPECT_THROW(read_config(fresh_path("nothing")), NoInputError); }

}  // namespace
}  // namespace ergodic
