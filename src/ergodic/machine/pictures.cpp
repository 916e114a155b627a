#include "ergodic/machine/pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <string_view>

#include "ergodic/data/alignment.hpp"
#include "ergodic/machine/machine.hpp"
#include "ergodic/report/logo.hpp"
#include "ergodic/report/sheet.hpp"

namespace ergodic {
namespace {

constexpr std::string_view kCharacters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::size_t kPicturedSamples = 100, kPlaneSamples = 2000;
constexpr std::uint64_t kPictureSweeps = 300, kPlaneSweeps = 200;

SheetOptions sheet_for(PictureShape shape, std::size_t units) {
  const PictureShape drawn = drawn_shape(shape, units);
  SheetOptions options;
  options.tile_height = drawn.height;
  options.tile_width = drawn.width;
  return options;
}

/// How many letters a logo of these units has; 0 if they are not drawn as one.
std::size_t drawn_letters(const Layer& layer, PictureShape shape) {
  const std::size_t letters = layer.parts() == 1 ? letters_of(layer) : 0;
  return letters > 0 && drawn_as_logo(sites_of(layer), letters, shape) ? letters : 0;
}

/// A character for each letter: those of proteins, or digits and then capitals.
std::string names_of_letters(std::size_t letters) {
  if (letters == kProteinLetters.size()) return std::string(kProteinLetters);
  return std::string(kCharacters.substr(0, letters));
}

Logo logo_of(const Matrix<float>& rows, std::size_t letters, std::string title) {
  Logo out{std::move(title), Matrix<double>(rows.cols() / letters, letters)};
  const double each = 1.0 / static_cast<double>(rows.rows());
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    for (std::size_t i = 0; i < rows.cols(); ++i) out.frequencies(i / letters, i % letters) += each * rows(r, i);
  }
  return out;
}

/// Pictures of the same kind, one below the other; the narrower is filled up with white.
void append_below(Image& image, const Image& more) {
  if (image.pixels.empty()) {
    image = more;
    return;
  }
  Image out{std::max(image.width, more.width), image.height + more.height, more.channels, {}};
  out.pixels.assign(out.width * out.height * out.channels, image.pixels[0]);  // which is of the gap, and grey
  std::size_t row = 0;
  for (const Image* part : {&std::as_const(image), &more}) {
    const std::size_t bytes = part->width * part->channels;
    for (std::size_t r = 0; r < part->height; ++r, ++row) {
      std::copy_n(part->pixels.begin() + static_cast<std::ptrdiff_t>(r * bytes), bytes,
                  out.pixels.begin() + static_cast<std::ptrdiff_t>(row * out.width * out.channels));
    }
  }
  image = std::move(out);
}

}  // namespace

std::size_t pictured_units(const Layer& visible) {
  return std::visit([](const auto& part) { return part.units; }, visible.part(0));
}

Matrix<float> first_columns(const Matrix<float>& values, std::size_t count) {
  Matrix<float> out(values.rows(), count);
  for (std::size_t r = 0; r < values.rows(); ++r) {
    std::ranges::copy(values.row(r).first(count), out.row(r).begin());
  }
  return out;
}

PictureShape drawn_shape(PictureShape shape, std::size_t units) {
  if (shape.height * shape.width == units) return shape;
  const auto [height, width] = tile_shape_for(units);
  return {height, width};
}

std::string shape_text(PictureShape shape) { return fmt::format("{}x{}", shape.height, shape.width); }

PictureShape shape_from_notes(const std::map<std::string, std::string>& notes, std::size_t units) {
  const auto found = notes.find("picture");
  if (found == notes.end()) return {};
  PictureShape shape;
  const char* const end = found->second.data() + found->second.size();
  const auto height = std::from_chars(found->second.data(), end, shape.height);
  if (height.ec != std::errc{} || height.ptr == end || *height.ptr != 'x') return {};
  const auto width = std::from_chars(height.ptr + 1, end, shape.width);
  if (width.ec != std::errc{} || width.ptr != end || shape.height == 0) return {};
  const bool fits = units % shape.height == 0 && shape.width == units / shape.height;
  return fits ? shape : PictureShape{};
}

Matrix<float> plain_values(const State& state) {
  if (state.real()) return state.reals();
  Matrix<float> out(state.chains(), state.units());
  unpack(State(state.bits(), Bernoulli::kLevels), out);
  return out;
}

Matrix<float> plain_means(const Rbm& model, const State& hidden, const Context& context) {
  Matrix<float> out = model.conditional_means(Rbm::kVisible, hidden, context);
  if (real_valued(model.visible())) return out;
  const Levels levels = levels_of(model.visible());
  for (float& value : out.elements()) value = (value - levels.low) / levels.gap();
  return out;
}

Matrix<float> drawable(Matrix<float> values, const Layer& layer) {
  if (!real_valued(layer) || values.elements().empty()) return values;
  std::vector<float> sorted(values.elements().begin(), values.elements().end());
  std::sort(sorted.begin(), sorted.end());
  const float low = sorted[sorted.size() / 100], high = sorted[sorted.size() - 1 - sorted.size() / 100];
  const float range = high > low ? high - low : 1.0f;
  for (float& value : values.elements()) value = (value - low) / range;
  return values;
}

Image picture_of_rows(const Matrix<float>& rows, PictureShape shape, std::size_t columns) {
  SheetOptions options = sheet_for(shape, rows.cols());
  options.columns = columns;
  return grey_sheet(rows, options);
}

bool drawn_as_logo(std::size_t sites, std::size_t letters, PictureShape shape) {
  return letters > 1 && letters <= kCharacters.size() && shape.height * shape.width != sites;
}

Image picture_of_letters(const Matrix<float>& rows, std::size_t letters, const std::string& title) {
  return sequence_logos(std::array{logo_of(rows, letters, title)}, names_of_letters(letters));
}

Image picture_of_values(const Matrix<float>& values, const Layer& layer, PictureShape shape) {
  if (layer.parts() > 1) return picture_of_rows(first_columns(values, pictured_units(layer)), shape);
  const std::size_t letters = drawn_letters(layer, shape);
  return letters > 0 ? picture_of_letters(values, letters, fmt::format("{} sequences", values.rows()))
                     : picture_of_rows(drawable(values, layer), shape);
}

Image picture_of_filters(MatrixView<const float> weights, PictureShape shape, std::size_t limit) {
  std::vector<double> strength(weights.cols());
  for (std::size_t i = 0; i < weights.rows(); ++i) {
    for (std::size_t j = 0; j < weights.cols(); ++j) strength[j] += double{weights(i, j)} * weights(i, j);
  }
  std::vector<std::size_t> order(weights.cols());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return strength[a] > strength[b]; });
  order.resize(std::min(order.size(), limit));
  Matrix<float> tiles(order.size(), weights.rows());
  for (std::size_t t = 0; t < order.size(); ++t) {
    for (std::size_t i = 0; i < tiles.cols(); ++i) tiles(t, i) = weights(i, order[t]);
  }
  return signed_sheet(tiles, sheet_for(shape, tiles.cols()));
}

Image filters_of_layers(std::span<const Matrix<float>> weights, PictureShape shape, std::size_t limit) {
  Image out;
  for (const Matrix<float>& layer : weights) append_below(out, picture_of_filters(layer, shape, limit));
  return out;
}

std::vector<Picture> pictures_of_layers(std::span<const Matrix<float>> weights, PictureShape shape) {
  constexpr std::size_t kUnits = 100;
  std::vector<Picture> out;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    out.push_back({fmt::format("Filters: the hundred strongest units of hidden layer {}{}", k + 1,
                               k > 0 ? ", as weights of the values through the layers below" : ""),
                   picture_of_filters(weights[k], shape, kUnits)});
  }
  return out;
}

bool is_plane(const Layer& units) { return has_forces(units) && units_of(units) == 2; }

Picture picture_of_samples(const Machine& machine, PictureShape shape, Key key, const Context& context) {
  const bool plane = is_plane(machine.visible());
  SamplingOptions options;
  options.sweeps = plane ? kPlaneSweeps : kPictureSweeps;
  const std::size_t count = plane ? kPlaneSamples : kPicturedSamples;
  Chains chains = machine.start(count, key, context);
  const std::unique_ptr<Sampling> sampling = machine.sampling(options, context);
  while (chains.sweep < options.sweeps && !context.stop_requested()) sampling->sweep(chains, key, context);
  const std::optional<Matrix<float>> means = machine.means_of(chains, context);
  return {fmt::format("Samples: {} chains after {} sweeps{}", count, options.sweeps, means ? ", expected values" : ""),
          machine.picture(means ? *means : plain_values(machine.visible_of(chains)), shape, context)};
}

Image picture_of_pairs(const Layer& layer, const State& rows, const Matrix<float>& reconstructed, PictureShape shape) {
  if (const std::size_t letters = drawn_letters(layer, shape); letters > 0) {
    const std::array logos{logo_of(plain_values(rows), letters, "rows"),
                           logo_of(reconstructed, letters, "reconstructions")};
    return sequence_logos(logos, names_of_letters(letters));
  }
  const std::size_t units = pictured_units(layer);
  const auto drawn = [&](const Matrix<float>& values) { return first_columns(drawable(values, layer), units); };
  return paired_sheet(drawn(plain_values(rows)), drawn(reconstructed), sheet_for(shape, units));
}

Image picture_of_groups(std::span<const Matrix<float>> columns, PictureShape shape) {
  const std::vector<MatrixView<const float>> views(columns.begin(), columns.end());
  return grouped_sheet(views, sheet_for(shape, columns[0].cols()));
}

}  // namespace ergodic
