// The pictures of a machine: samples, filters, reconstructions, and the data itself, as sheets.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "ergodic/core/context.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/format/png.hpp"
#include "ergodic/model/concepts.hpp"
#include "ergodic/model/rbm.hpp"
#include "ergodic/report/html.hpp"
#include "ergodic/report/landscape.hpp"

namespace ergodic {

class Machine;

/// How many of the first units of a visible layer are drawn: those of its first part, since the others are labels.
std::size_t pictured_units(const Layer& visible);
/// These columns of some values alone.
Matrix<float> first_columns(const Matrix<float>& values, std::size_t count);

/// The shape under which rows are drawn: the data's own, or a near square if it has none.
PictureShape drawn_shape(PictureShape shape, std::size_t units);

/// "28x28" and back; no shape if the text is missing or does not fit the units.
std::string shape_text(PictureShape shape);
PictureShape shape_from_notes(const std::map<std::string, std::string>& notes, std::size_t units);

/// States, or the expected values of the visible layer given the chains' hidden states, as other programs take them and
/// --data reads them back: 0 and 1 for the levels of two-valued units, else the values themselves.
Matrix<float> plain_values(const State& state);
Matrix<float> plain_means(const Rbm& model, const State& hidden, const Context& context);
/// Values for drawing, in [0, 1]: real values between their quantiles of 1 and 99 %.
Matrix<float> drawable(Matrix<float> values, const Layer& layer);

/// So many tiles side by side; 0: nearly a square.
Image picture_of_rows(const Matrix<float>& rows, PictureShape shape, std::size_t columns = 0);
/// Whether sites of letters are drawn as a sequence logo: unless they are the pixels of a picture, or have more letters
/// than there are characters.
bool drawn_as_logo(std::size_t sites, std::size_t letters, PictureShape shape);
/// The sequence logo of rows of letters.
Image picture_of_letters(const Matrix<float>& rows, std::size_t letters, const std::string& title);
/// Values of a layer of any type.
Image picture_of_values(const Matrix<float>& values, const Layer& layer, PictureShape shape);
/// One tile for each hidden unit: its column of these weights, [visible, hidden]; at most `limit` of them, the largest
/// first.
Image picture_of_filters(MatrixView<const float> weights, PictureShape shape, std::size_t limit);
/// The filters of each layer below those of the layer before, given their weights of the visible units.
Image filters_of_layers(std::span<const Matrix<float>> weights, PictureShape shape, std::size_t limit);
/// The filters of the strongest units of each layer, given their weights of the visible units, those of higher layers
/// through the layers below.
std::vector<Picture> pictures_of_layers(std::span<const Matrix<float>> weights, PictureShape shape);
/// Each row beside its reconstruction.
Image picture_of_pairs(const Layer& layer, const State& rows, const Matrix<float>& reconstructed, PictureShape shape);

/// Whether these are two real units, whose energy is a landscape over a plane.
bool is_plane(const Layer& units);
/// The landscape of an energy of two real units about points [count, 2], and the points.
template <EnergyModel Model>
Image picture_of_plane(const Model& model, const Matrix<float>& points, const Context& context) {
  constexpr std::size_t kPixels = 400;
  const Window window = window_around(points);
  return landscape_plot(model.energy(State(places_in(window, kPixels)), context), points, window, kPixels);
}

/// Samples of a machine for its report: expected values if it has them.
Picture picture_of_samples(const Machine& machine, PictureShape shape, Key key, const Context& context);

/// Tiles side by side in groups: row r of each column in one cell.
Image picture_of_groups(std::span<const Matrix<float>> columns, PictureShape shape);

}  // namespace ergodic
