#include "ergodic/data/table_layout.hpp"

#include <gtest/gtest.h>

namespace ergodic {
namespace {

UnitTable table_of(std::vector<double> numbers, std::size_t rows, std::vector<int> labels = {}) {
  UnitTable out;
  out.rows = rows;
  out.numbers = std::move(numbers);
  out.notes.labels = std::move(labels);
  return out;
}

TEST(TableLayout, NumbersAreDividedByWhiteUnlessTheyAreLetters) {
  UnitTable grey = table_of({0, 8, 16}, 1);
  arrange(grey, {"", 16.0}, ValueKind::kBits);
  EXPECT_EQ(grey.numbers, (std::vector<double>{0, 0.5, 1}));
  UnitTable letters = table_of({0, 8, 16}, 1);
  arrange(letters, {"", 16.0}, ValueKind::kLetters);
  EXPECT_EQ(letters.numbers, (std::vector<double>{0, 8, 16}));
}

TEST(TableLayout, PicturesHaveTheirShape) {
  UnitTable table = table_of({1, 2, 3, 4, 5, 6}, 1);
  arrange(table, {"", 1.0, {2, 3}}, ValueKind::kReal);
  EXPECT_EQ(table.notes.shape, (PictureShape{2, 3}));
  EXPECT_EQ(table.rows, 1u);
}

/// All pictures, then all of them a pixel up, left, right and down: the order of scikit-learn's example of RBMs.
TEST(TableLayout, NudgedPicturesFollowTheOthers) {
  UnitTable table = table_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 2, {7, 3});
  arrange(table, {"", 1.0, {2, 3}, true}, ValueKind::kReal);
  const std::vector<double> expected{1, 2, 3, 4, 5, 6, 7,  8,  9,  10, 11, 12,  // as they are
                                     4, 5, 6, 0, 0, 0, 10, 11, 12, 0,  0,  0,   // up
                                     2, 3, 0, 5, 6, 0, 8,  9,  0,  11, 12, 0,   // left
                                     0, 1, 2, 0, 4, 5, 0,  7,  8,  0,  10, 11,  // right
                                     0, 0, 0, 1, 2, 3, 0,  0,  0,  7,  8,  9};  // down
  EXPECT_EQ(table.numbers, expected);
  EXPECT_EQ(table.rows, 10u);
  EXPECT_EQ(table.notes.labels, (std::vector<int>{7, 3, 7, 3, 7, 3, 7, 3, 7, 3}));
}

TEST(TableLayout, WordsForNoAndYesAreNumbers) {
  CsvTable table;
  table.columns = {{"a", {"n", "y"}}, {"b", {"n", "u", "y"}}, {"c", {"y"}}, {"d"}};
  number_words(table, {"", 1.0, {}, false, {"n", "y"}});
  EXPECT_TRUE(table.columns[0].words.empty());
  EXPECT_EQ(table.columns[1].words.size(), 3u);
  EXPECT_EQ(table.columns[2].words.size(), 1u);
}

}  // namespace
}  // namespace ergodic
