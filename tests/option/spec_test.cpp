#include "ergodic/option/spec.hpp"

#include <gtest/gtest.h>

#include "data/error_message.hpp"

namespace ergodic {

enum class Fruit { kApple, kPear };

template <>
struct Names<Fruit> {
  static constexpr std::array<Named<Fruit>, 2> kAll{
      {{Fruit::kApple, "apple", "red or green"}, {Fruit::kPear, "pear", "soft"}}};
};

namespace {

struct Basket {
  std::string weave = "plain";
  std::uint64_t handles = 1;
};

struct Request {
  std::string title = "plain";
  std::filesystem::path out;
  bool loud = false;
  std::uint64_t epochs = 20;
  double rate = 0.05;
  Fruit fruit = Fruit::kPear;
  Counts layers{32, 16};
  std::optional<std::uint64_t> chains;
  std::optional<double> step = 0.5;
  Basket basket{"fine", 2};
};

Spec<Basket> basket_spec() {
  Spec<Basket> spec;
  spec.group("Basket")
      .add("weave", &Basket::weave, "how it is made")
      .choices({{"plain", "over and under"}, {"fine", ""}});
  spec.add("handles", &Basket::handles, "how many").range(0, 2);
  return spec;
}

Spec<Request> make_spec() {
  Spec<Request> spec;
  spec.group("First")
      .add("title", &Request::title, "a title")
      .placeholder("TITLE")
      .add("out", &Request::out, "a file")
      .role(PathRole::kOutput)
      .not_part_of_result()
      .add("loud", &Request::loud, "say more");
  spec.group("Second")
      .add("epochs", &Request::epochs, "how many")
      .range(1, 1000)
      .add(
          "rate", [](auto& request) -> auto& { return request.rate; }, "how fast")
      .range(-0.5, 2.5)
      .add("fruit", &Request::fruit, "which")
      .add("layers", &Request::layers, "units of each")
      .range(1, 4096)
      .advanced()
      .add("chains", &Request::chains, "chains in all")
      .range(1, 100)
      .automatic("as many as rows")
      .add("step", &Request::step, "how far")
      .range(0.0, 1.0);
  spec.include(basket_spec(), &Request::basket);
  return spec;
}

const Spec<Request>& spec() {
  static const Spec<Request> made = make_spec();
  return made;
}
const Option& option(const std::string& name) { return spec().find(name)->option; }

void set(Request& request, const std::string& name, const std::string& text) {
  spec().apply(request, {{name, parse_value(option(name), text)}});
}

/// The message with which a text is refused.
std::string refused(const std::string& name, const std::string& text) {
  return message_of<UsageError>([&] { parse_value(option(name), text); });
}

TEST(Spec, EveryTypeSetsItsField) {
  const std::map<std::string, std::string> given{{"title", "a b"},    {"out", "x/y.png"}, {"loud", "true"},
                                                 {"epochs", "7"},     {"rate", "1.25"},   {"fruit", "apple"},
                                                 {"layers", "8,4,2"}, {"chains", "50"},   {"step", "auto"},
                                                 {"weave", "plain"},  {"handles", "0"}};
  Request request;
  for (const auto& [name, text] : given) set(request, name, text);
  EXPECT_EQ(request.title, "a b");
  EXPECT_EQ(request.out, "x/y.png");
  EXPECT_TRUE(request.loud);
  EXPECT_EQ(request.epochs, 7u);
  EXPECT_EQ(request.rate, 1.25);
  EXPECT_EQ(request.fruit, Fruit::kApple);
  EXPECT_EQ(request.layers, (Counts{8, 4, 2}));
  EXPECT_EQ(request.chains, 50u);
  EXPECT_FALSE(request.step.has_value());
  EXPECT_EQ(request.basket.weave, "plain");
  EXPECT_EQ(request.basket.handles, 0u);
  ASSERT_EQ(spec().bound().size(), given.size());
  for (const auto& bound : spec().bound()) EXPECT_EQ(text_of(bound.get(request)), given.at(bound.option.name));
}

TEST(Spec, DefaultsAreTheFieldsOwn) {
  EXPECT_EQ(option("title").default_value, Value("plain"));
  EXPECT_EQ(option("out").default_text(), "");
  EXPECT_EQ(option("loud").default_text(), "");
  EXPECT_EQ(option("epochs").default_text(), "20");
  EXPECT_EQ(option("rate").default_text(), "0.05");
  EXPECT_EQ(option("fruit").default_text(), "pear");
  EXPECT_EQ(option("layers").default_text(), "32,16");
  EXPECT_EQ(option("chains").default_value, Value(Auto{}));
  EXPECT_EQ(option("chains").default_text(), "as many as rows");
  EXPECT_EQ(option("step").default_text(), "0.5");
  const Request request = spec().made({});
  EXPECT_EQ(request.epochs, 20u);
  EXPECT_EQ(request.rate, 0.05);
  EXPECT_FALSE(request.loud);
}

TEST(Spec, TypesFollowFromFields) {
  const std::map<std::string, OptionType> expected{
      {"title", OptionType::kText},    {"out", OptionType::kPath},     {"loud", OptionType::kFlag},
      {"epochs", OptionType::kCount},  {"rate", OptionType::kNumber},  {"fruit", OptionType::kChoice},
      {"layers", OptionType::kCounts}, {"chains", OptionType::kCount}, {"step", OptionType::kNumber},
      {"weave", OptionType::kChoice},  {"handles", OptionType::kCount}};
  for (const Option& found : spec().options()) {
    EXPECT_EQ(found.type, expected.at(found.name)) << found.name;
    EXPECT_EQ(found.may_be_automatic, found.name == "chains" || found.name == "step") << found.name;
    EXPECT_EQ(found.is_flag(), found.name == "loud") << found.name;
    EXPECT_EQ(found.shapes_result, found.name != "out") << found.name;
    EXPECT_EQ(found.advanced, found.name == "layers") << found.name;
  }
  EXPECT_EQ(name_of(OptionType::kCounts), "counts");
}

TEST(Spec, DescribesItsOptions) {
  EXPECT_EQ(option("title").group, "First");
  EXPECT_EQ(option("fruit").group, "Second");
  EXPECT_EQ(option("weave").group, "Basket");
  EXPECT_EQ(option("title").placeholder, "TITLE");
  EXPECT_EQ(option("epochs").placeholder, "N");
  EXPECT_EQ(option("rate").placeholder, "X");
  EXPECT_EQ(option("epochs").written(), "--epochs");
  EXPECT_EQ(option("epochs").range_text(), "1 to 1000");
  EXPECT_EQ(option("rate").range_text(), "-0.5 to 2.5");
  EXPECT_EQ(option("title").range_text(), "");
  EXPECT_EQ(option("out").role, PathRole::kOutput);
  EXPECT_EQ(spec().find("nothing"), nullptr);
}

TEST(Spec, ChoicesSayWhatTheyMean) {
  const auto expect_choices = [](const std::string& name, const std::vector<Choice>& expected) {
    const std::vector<Choice>& found = option(name).choices;
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t k = 0; k < found.size(); ++k) {
      EXPECT_EQ(found[k].name, expected[k].name);
      EXPECT_EQ(found[k].help, expected[k].help);
    }
  };
  expect_choices("fruit", {{"apple", "red or green"}, {"pear", "soft"}});
  expect_choices("weave", {{"plain", "over and under"}, {"fine", ""}});
}

TEST(Spec, APartKeepsTheDefaultsOfTheWhole) {
  EXPECT_EQ(basket_spec().find("weave")->option.default_text(), "plain");
  EXPECT_EQ(option("weave").default_text(), "fine");
  EXPECT_EQ(option("handles").default_text(), "2");
  expect_parts(refused("handles", "3"), {"--handles", "from 0 to 2"});
}

TEST(Spec, CountsTakeTheirWholeRange) {
  Request request;
  set(request, "epochs", "1");
  EXPECT_EQ(request.epochs, 1u);
  set(request, "epochs", "1000");
  EXPECT_EQ(request.epochs, 1000u);
  struct Seeded {
    std::uint64_t seed = 1;
  };
  Spec<Seeded> any;
  any.add("seed", &Seeded::seed, "").range(0, static_cast<double>(~std::uint64_t{0}));
  const Option& seed = any.find("seed")->option;
  EXPECT_EQ(seed.range_text(), "0 to 18446744073709551615");
  for (const std::string text : {"18446744073709551615", "0"}) EXPECT_EQ(text_of(parse_value(seed, text)), text);
}

TEST(Spec, CountsMayHaveAnExponent) {
  Request request;
  for (const char* text : {"1e2", "100.0", "1E+2"}) {
    set(request, "epochs", text);
    EXPECT_EQ(request.epochs, 100u);
  }
}

TEST(Spec, CountsOutsideTheirRangeAreRefused) {
  for (const char* text : {"0", "1001", "-1", "1.5", "1e4", "1e-2", "", " 1", "1 ", "+1", "0x10", "ten", "1,000",
                           "18446744073709551616", "99999999999999999999999", "auto"}) {
    expect_parts(refused("epochs", text), {"--epochs", "a whole number from 1 to 1000", std::string("'") + text + "'"});
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
                           "1,5", "one", "1.0.0", "auto"}) {
    expect_parts(refused("rate", text), {"--rate", "a number from -0.5 to 2.5", std::string("'") + text + "'"});
  }
}

TEST(Spec, NumbersAreWrittenSoThatTheyComeBack) {
  for (const double value : {0.1, 1.0 / 3.0, 1e-300, 2.5, -0.5}) {
    EXPECT_EQ(parse_value(option("rate"), text_of(Value(value))), Value(value));
  }
}

TEST(Spec, ListsAreNumbersWithCommas) {
  EXPECT_EQ(parse_value(option("layers"), "7"), Value(Counts{7}));
  EXPECT_EQ(parse_value(option("layers"), "1,4096,3"), Value(Counts{1, 4096, 3}));
  for (const char* text : {"", ",", "1,", ",1", "1,,2", "1, 2", "0,1", "4097", "1;2", "a,b"}) {
    expect_parts(refused("layers", text),
                 {"--layers", "whole numbers from 1 to 4096 with commas", std::string("'") + text + "'"});
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
    expect_parts(refused("fruit", text), {"--fruit", "one of apple, pear", std::string("'") + text + "'"});
  }
  expect_parts(refused("weave", "coarse"), {"--weave", "one of plain, fine", "'coarse'"});
}

TEST(Spec, AutoIsForWhatMayBeLeftToTheProgram) {
  Request request;
  set(request, "chains", "9");
  EXPECT_EQ(request.chains, 9u);
  set(request, "chains", "auto");
  EXPECT_FALSE(request.chains.has_value());
  for (const char* text : {"0", "101", "Auto", ""}) {
    expect_parts(refused("chains", text), {"--chains", "a whole number from 1 to 100 or auto", text});
  }
  expect_parts(refused("step", "2"), {"--step", "a number from 0 to 1 or auto", "'2'"});
  EXPECT_EQ(parse_value(option("title"), "auto"), Value("auto"));  // a text like any other
}

TEST(Spec, ValuesOfTheWrongTypeAreRefused) {
  const auto refused_value = [](const std::string& name, const Value& value) {
    return message_of<UsageError>([&] { spec().made({{name, value}}); });
  };
  expect_parts(refused_value("epochs", 7.0), {"--epochs", "a whole number", "'7'"});
  expect_parts(refused_value("epochs", std::uint64_t{1001}), {"--epochs", "from 1 to 1000", "'1001'"});
  expect_parts(refused_value("epochs", Auto{}), {"--epochs", "'auto'"});
  expect_parts(refused_value("rate", std::uint64_t{1}), {"--rate", "a number"});
  expect_parts(refused_value("rate", 3.0), {"--rate", "from -0.5 to 2.5", "'3'"});
  expect_parts(refused_value("loud", std::string("true")), {"--loud", "true or false"});
  expect_parts(refused_value("title", true), {"--title", "a text"});
  expect_parts(refused_value("fruit", std::string("plum")), {"--fruit", "apple, pear"});
  expect_parts(refused_value("layers", Counts{}), {"--layers"});
  expect_parts(refused_value("layers", Counts{0}), {"--layers", "from 1 to 4096"});
}

TEST(Spec, ARefusedValueLeavesTheField) {
  Request request;
  for (const char* name : {"epochs", "rate", "fruit", "loud", "layers", "chains"}) {
    EXPECT_THROW(set(request, name, "nonsense"), UsageError);
    EXPECT_THROW(spec().apply(request, {{name, Value("nonsense")}}), UsageError);
  }
  EXPECT_EQ(request.epochs, 20u);
  EXPECT_EQ(request.rate, 0.05);
  EXPECT_EQ(request.fruit, Fruit::kPear);
  EXPECT_FALSE(request.loud);
}

TEST(Spec, AnUnknownOptionIsNamed) {
  Request request;
  expect_parts(message_of<UsageError>([&] { spec().apply(request, {{"speed", Value(1.0)}}); }), {"'speed'"});
}

TEST(Spec, SettingsAreWhatShapesTheResult) {
  Request request;
  request.epochs = 3;
  request.out = "elsewhere";
  const Settings expected{{"title", "plain"},
                          {"loud", false},
                          {"epochs", std::uint64_t{3}},
                          {"rate", 0.05},
                          {"fruit", "pear"},
                          {"layers", Counts{32, 16}},
                          {"chains", Auto{}},
                          {"step", 0.5},
                          {"weave", "fine"},
                          {"handles", std::uint64_t{2}}};
  EXPECT_EQ(spec().settings(request), expected);
  const Request back = spec().made(expected);
  EXPECT_EQ(back.epochs, 3u);
  EXPECT_EQ(spec().settings(back), expected);
}

TEST(Option, PositionalOnesAreWrittenInCapitals) {
  Option file;
  file.name = "file";
  file.positional = true;
  EXPECT_EQ(file.written(), "FILE");
}

TEST(Spec, ManyFilesAreALineEach) {
  struct Many {
    std::vector<std::filesystem::path> files;
  };
  Spec<Many> spec;
  spec.add("file", &Many::files, "files").positional().required();
  const Option found = spec.options()[0];
  EXPECT_TRUE(found.is_many());
  const Value value = parse_value(found, "a b\nc,d");
  EXPECT_EQ(spec.made({{"file", value}}).files, (std::vector<std::filesystem::path>{"a b", "c,d"}));
  EXPECT_EQ(text_of(value), "a b\nc,d");
  EXPECT_THROW(parse_value(found, "a\n\nb"), UsageError);
  EXPECT_THROW(check_value(found, Value(std::string("a"))), UsageError);
}

}  // namespace
}  // namespace ergodic
