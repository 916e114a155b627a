#include "ergodic/machine/rows.hpp"

#include <gtest/gtest.h>

#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/data/alignment.hpp"

namespace ergodic {
namespace {

Dataset alignment() {
  const std::vector<NamedSequence> sequences{{"a", "ACD"}, {"b", "AC-"}};
  return dataset_of(sequences, "x.fasta");
}

TEST(Rows, AnAlignmentMakesLettersUnlessToldOtherwise) {
  EXPECT_EQ(visible_layer_for(kAutoType, alignment()), Layer(Potts::make(63, 21)));
  EXPECT_EQ(visible_layer_for("bernoulli", alignment()), Layer(Bernoulli{63}));
  EXPECT_EQ(visible_layer_for(kAutoType, {"x", Bits(2, 5)}), Layer(Bernoulli{5}));
}

TEST(Rows, UnitsTakeTheirOwnValues) {
  EXPECT_EQ(kind_for_type(kAutoType), ValueKind::kBits);
  EXPECT_EQ(kind_for_type("spin"), ValueKind::kSpins);
  EXPECT_EQ(kind_for_type("potts"), ValueKind::kLetters);
  EXPECT_EQ(kind_for_type("relu"), ValueKind::kReal);
}

TEST(Rows, TheAlphabetIsANote) {
  const auto notes = notes_of_data(alignment());
  const Layer visible = visible_layer_for(kAutoType, alignment());
  EXPECT_EQ(alphabet_from(notes, visible), kProteinLetters);
  EXPECT_EQ(alphabet_from(notes, Bernoulli{63}), "");
  EXPECT_EQ(alphabet_from(notes, Potts::make(6, 3)), "");
  EXPECT_EQ(alphabet_from({}, visible), "");
  EXPECT_EQ(alphabet_from({{"alphabet", "A\nC"}}, Potts::make(6, 3)), "");
}

TEST(Rows, RowsOfAnotherLengthAreCountedInSites) {
  const Dataset data = alignment();
  expect_parts(message_of<DataError>([&] { require_fit(Potts::make(84, 21), data); }),
               {"rows of 4 letters", "found 3"});
  expect_parts(message_of<DataError>([&] {
                 require_fit(Bernoulli{4}, {"x", Bits(2, 5)});
               }),
               {"rows of 4 values", "found 5"});
}

}  // namespace
}  // namespace ergodic
