#include "ergodic/data/named_sets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/data/source.hpp"

namespace ergodic {
namespace {

TEST(NamedSets, EachIsMadeOrFetchedUnderANameOfItsOwn) {
  std::set<std::string> names;
  for (const NamedSet& set : named_sets()) {
    EXPECT_TRUE(names.insert(set.name).second) << set.name;
    EXPECT_NE(set.recipe.has_value(), set.catalogue != nullptr) << set.name;
    EXPECT_FALSE(set.description.empty()) << set.name;
    EXPECT_EQ(find_named_set(set.name)->set, &set);
  }
  for (const std::string& name : catalogue_names()) EXPECT_TRUE(names.contains(name)) << name;
}

TEST(NamedSets, EveryRecipeMakesWhatItSays) {
  for (const NamedSet& set : named_sets()) {
    if (!set.recipe) continue;
    SCOPED_TRACE(set.name);
    const std::size_t n = std::max<std::size_t>(set.recipe->lowest, 2);
    const DataParts parts = load_data({{}, set.name + ":" + std::to_string(n)});
    EXPECT_EQ(parts.train.name, set.name);
    EXPECT_EQ(parts.train.real(), set.recipe->real);
    EXPECT_EQ(parts.test.rows() > 0, set.recipe->has_test);
    if (set.recipe->has_test) {
      EXPECT_EQ(parts.train.rows(), n);
    }
  }
}

TEST(NamedSets, TheSizeIsTheDefaultOrANumberInRange) {
  EXPECT_EQ(find_named_set("bars-and-stripes")->n, 4u);
  EXPECT_EQ(find_named_set("bars-and-stripes:16")->n, 16u);
  EXPECT_FALSE(find_named_set("bars"));
  EXPECT_FALSE(find_named_set("mnist:5"));
  for (const char* bad : {"bars-and-stripes:17", "bars-and-stripes:0", "bars-and-stripes:", "bars-and-stripes:4x"}) {
    expect_parts(message_of<UsageError>([&] { find_named_set(bad); }), {bad, "from 1 to 16", "'bars-and-stripes:'"});
  }
}

}  // namespace
}  // namespace ergodic
