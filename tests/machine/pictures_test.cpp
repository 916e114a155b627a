#include "ergodic/machine/pictures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "ergodic/machine/rbm.hpp"
#include "ergodic/report/sheet.hpp"

namespace ergodic {
namespace {

PictureShape shape_from(const std::string& text, std::size_t units) {
  return shape_from_notes({{"picture", text}}, units);
}

SheetOptions tiles_of(std::size_t height, std::size_t width) {
  SheetOptions options;
  options.tile_height = height;
  options.tile_width = width;
  return options;
}

void expect_same(const Image& a, const Image& b) {
  EXPECT_EQ(a.width, b.width);
  EXPECT_EQ(a.height, b.height);
  EXPECT_EQ(a.channels, b.channels);
  EXPECT_EQ(a.pixels, b.pixels);
}

TEST(PictureShapes, TextComesBack) {
  EXPECT_EQ(shape_text({28, 14}), "28x14");
  EXPECT_EQ(shape_from("28x14", 392), (PictureShape{28, 14}));
  EXPECT_EQ(shape_from("1x392", 392), (PictureShape{1, 392}));
}

TEST(PictureShapes, WithoutANoteThereIsNone) {
  EXPECT_EQ(shape_from_notes({}, 12), PictureShape{});
  EXPECT_EQ(shape_from_notes({{"shape", "3x4"}}, 12), PictureShape{});
}

TEST(PictureShapes, OneThatDoesNotFitTheUnitsIsNone) {
  for (const char* text : {"3x5", "4x4", "0x12", "12x0", "0x0", "5x2"}) EXPECT_EQ(shape_from(text, 12), PictureShape{});
  EXPECT_EQ(shape_from("0x0", 0), PictureShape{});
}

TEST(PictureShapes, TextThatIsNoneIsNone) {
  for (const char* text : {"", "x", "3", "3x", "x4", "3 x 4", "3X4", "3*4", "a3x4", "3x4a", "3x4x1", " 3x4", "+3x4",
                           "3x-4", "-3x-4", "3.0x4.0", "three"}) {
    EXPECT_EQ(shape_from(text, 12), PictureShape{}) << "'" << text << "'";
  }
}

TEST(PictureShapes, TextThatOverflowsIsNone) {
  for (const char* text :
       {"18446744073709551616x12", "99999999999999999999999999x1", "1x99999999999999999999999999",
        "4294967296x4294967296", "9223372036854775808x2", "-18446744073709551613x4", "6148914691236517209x12"}) {
    for (const std::size_t units : {std::size_t{1}, std::size_t{12}, ~std::size_t{0}}) {
      EXPECT_EQ(shape_from(text, units), PictureShape{}) << text << " of " << units;
    }
  }
}

TEST(PictureShapes, DrawnAsTheDataSaysOrNearlySquare) {
  EXPECT_EQ(drawn_shape({2, 6}, 12), (PictureShape{2, 6}));
  EXPECT_EQ(drawn_shape({}, 12), (PictureShape{3, 4}));
  EXPECT_EQ(drawn_shape({28, 28}, 12), (PictureShape{3, 4}));
}

TEST(Logos, AreForLettersThatAreNotThePixelsOfAPicture) {
  EXPECT_TRUE(drawn_as_logo(159, 21, {159, 21}));
  EXPECT_TRUE(drawn_as_logo(12, 3, {}));
  EXPECT_FALSE(drawn_as_logo(784, 2, {28, 28}));
  EXPECT_FALSE(drawn_as_logo(12, 0, {}));
  EXPECT_FALSE(drawn_as_logo(12, 37, {})) << "more than there are characters";
}

TEST(Drawable, StatesOfEveryTypeAreZerosAndOnes) {
  Bits bits(3, 70);
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t i = 0; i < 70; ++i) bits.set(r, i, (r + i) % 3 == 0);
  }
  for (const Levels levels : {Bernoulli::kLevels, Spin::kLevels}) {
    const Matrix<float> values = plain_values(State(bits, levels));
    ASSERT_EQ(values.rows(), 3u);
    ASSERT_EQ(values.cols(), 70u);
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t i = 0; i < 70; ++i) EXPECT_EQ(values(r, i), bits.get(r, i) ? 1.0f : 0.0f);
    }
  }
}

/// A machine without couplings: its visible means depend on the biases alone.
Rbm uncoupled(const Layer& visible, std::span<const float> bias) {
  Rbm model(visible, Bernoulli{2});
  model.update([&](Parameters& p) { std::copy(bias.begin(), bias.end(), p["visible_bias"].begin()); }, Context{});
  return model;
}

TEST(Drawable, MeansOfEveryTypeAreShares) {
  const std::vector<float> bias{0.0f, 100.0f, -100.0f};
  const std::vector<float> expected{0.5f, 1.0f, 0.0f};  // sigmoid(-100) is 4e-44
  for (const Layer& visible : {Layer(Bernoulli{3}), Layer(Spin{3})}) {
    const Rbm model = uncoupled(visible, bias);
    const Matrix<float> means = plain_means(model, model.make_state(Rbm::kHidden, 2), {});
    for (std::size_t r = 0; r < 2; ++r) {
      for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(means(r, i), expected[i], 1e-40) << name_of(visible);
    }
  }
}

TEST(Pictures, RowsAreDrawnInTheirShape) {
  Matrix<float> rows(2, 6);
  rows(0, 1) = rows(1, 5) = 1.0f;
  expect_same(picture_of_rows(rows, {2, 3}), grey_sheet(rows, tiles_of(2, 3)));
  expect_same(picture_of_rows(rows, {}), grey_sheet(rows, tiles_of(2, 3)));  // nearly square
  expect_same(picture_of_rows(rows, {6, 1}), grey_sheet(rows, tiles_of(6, 1)));
}

/// Four visible units; hidden unit j has weights of size `strengths[j]` with a pattern of its own.
Rbm with_filters(const std::vector<float>& strengths) {
  Rbm model(Bernoulli{4}, Bernoulli{strengths.size()});
  model.update(
      [&](Parameters& p) {
        for (std::size_t j = 0; j < strengths.size(); ++j) {
          for (std::size_t i = 0; i < 4; ++i) {
            p["weights"][i * strengths.size() + j] = ((j >> i) & 1u) ? strengths[j] : -strengths[j];
          }
        }
      },
      Context{});
  return model;
}

/// The sheet of these hidden units, in this order.
Image filters(const Rbm& model, const std::vector<std::size_t>& order) {
  Matrix<float> tiles(order.size(), 4);
  for (std::size_t t = 0; t < order.size(); ++t) {
    for (std::size_t i = 0; i < 4; ++i) tiles(t, i) = model.weights()(i, order[t]);
  }
  return signed_sheet(tiles, tiles_of(2, 2));
}

TEST(Pictures, FiltersAreSortedByStrength) {
  const Rbm model = with_filters({0.5f, 3.0f, 0.1f, -2.0f, 1.0f});
  expect_same(picture_of_filters(model.weights(), {2, 2}, 100), filters(model, {1, 3, 4, 0, 2}));
}

TEST(Pictures, OnlyTheStrongestFiltersAreDrawnIfThereAreMany) {
  const Rbm model = with_filters({0.5f, 3.0f, 0.1f, -2.0f, 1.0f});
  expect_same(picture_of_filters(model.weights(), {2, 2}, 2), filters(model, {1, 3}));
}

TEST(Pictures, FiltersOfEqualStrengthKeepTheirOrder) {
  const Rbm model = with_filters({1.0f, 2.0f, 1.0f, 2.0f, 1.0f});
  expect_same(picture_of_filters(model.weights(), {2, 2}, 100), filters(model, {1, 3, 0, 2, 4}));
}

TEST(Pictures, BesideTheFiltersOfASmallLayerIsTheColourOfTheGap) {
  Matrix<float> many(4, 9), few(4, 1);
  for (float& weight : many.elements()) weight = 1.0f;
  for (float& weight : few.elements()) weight = 1.0f;
  const std::vector<Matrix<float>> layers{many, few};
  const Image image = filters_of_layers(layers, {2, 2}, 100);
  ASSERT_GT(image.width, picture_of_filters(few, {2, 2}, 100).width);
  EXPECT_EQ(image.pixels.back(), image.pixels.front());
}

TEST(Pictures, ReconstructionsStandBesideTheirRows) {
  Bits bits(2, 4);
  bits.set(0, 1, true);
  bits.set(1, 3, true);
  Matrix<float> left(2, 4), right(2, 4);
  left(0, 1) = left(1, 3) = 1.0f;
  std::fill(right.elements().begin(), right.elements().end(), 0.5f);  // a machine of zeros expects a half everywhere
  for (const Layer& visible : {Layer(Bernoulli{4}), Layer(Spin{4})}) {
    const Rbm model(visible, Bernoulli{3});
    const State rows(bits, levels_of(visible));
    expect_same(picture_of_pairs(visible, rows, *RbmMachine(model).reconstructions(rows, Key{1}, {}), {2, 2}),
                paired_sheet(left, right, tiles_of(2, 2)));
  }
}

TEST(Pictures, GroupsAreDrawnInTheirShape) {
  std::vector<Matrix<float>> columns(3, Matrix<float>(2, 6));
  columns[1](0, 1) = columns[2](1, 5) = 1.0f;
  const std::array<MatrixView<const float>, 3> views{columns[0].view(), columns[1].view(), columns[2].view()};
  expect_same(picture_of_groups(columns, {6, 1}), grouped_sheet(views, tiles_of(6, 1)));
  expect_same(picture_of_groups(columns, {}), grouped_sheet(views, tiles_of(2, 3)));  // nearly square
}

}  // namespace
}  // namespace ergodic
