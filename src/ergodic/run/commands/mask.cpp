#include "ergodic/run/commands/mask.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "ergodic/core/error.hpp"
#include "ergodic/core/number_text.hpp"
#include "ergodic/data/source.hpp"

namespace ergodic {
namespace {

constexpr char kExpected[] =
    "--mask: expected left, right, upper, lower, box:X,Y,W,H, random:P with P above 0 and at most 1, or the name of a "
    "file; found '{}'";

struct Box {
  std::size_t x = 0, y = 0, width = 0, height = 0;
};

/// The numbers between commas; nothing if one is none.
std::optional<std::vector<std::size_t>> counts_in(std::string_view text) {
  std::vector<std::size_t> out;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const auto number = number_in<std::size_t>(std::string(text.substr(0, comma)));
    if (!number) return std::nullopt;
    out.push_back(*number);
    if (comma == text.size()) return out;
    text.remove_prefix(comma + 1);
  }
}

bool names_a_box(const std::string& text) {
  return text == "left" || text == "right" || text == "upper" || text == "lower" || text.starts_with("box:");
}

/// The part of a picture that such a text names.
Box box_named(const std::string& text, PictureShape shape) {
  const auto [height, width] = shape;
  if (text == "left") return Box{0, 0, width / 2, height};
  if (text == "right") return Box{width - width / 2, 0, width / 2, height};
  if (text == "upper") return Box{0, 0, width, height / 2};
  if (text == "lower") return Box{0, height - height / 2, width, height / 2};
  const auto numbers = counts_in(std::string_view(text).substr(4));
  require(numbers && numbers->size() == 4, fmt::format(kExpected, text));
  const Box box{(*numbers)[0], (*numbers)[1], (*numbers)[2], (*numbers)[3]};
  require(box.width > 0 && box.width <= width && box.x <= width - box.width && box.height > 0 && box.height <= height &&
              box.y <= height - box.height,
          fmt::format("--mask: expected a box within pictures of {} x {} (width x height), found '{}'", width, height,
                      text));
  return box;
}

void hide(Bits& mask, std::size_t row, const Site& site) {
  for (std::size_t u = 0; u < site.size; ++u) mask.set(row, site.first + u, true);
}

Bits random_mask(const std::string& text, const Layer& visible, std::size_t rows, Key key) {
  const auto share = number_in<double>(text.substr(7));
  require(share && *share > 0.0 && *share <= 1.0, fmt::format(kExpected, text));
  const std::vector<Site> all = sites(visible);
  Bits out(rows, units_of(visible));
  const Draw draw = key.at(Purpose::kDamage);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t s = 0; s < all.size(); ++s) {
      if (draw.uniform(static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(s)) < *share) hide(out, r, all[s]);
    }
  }
  return out;
}

}  // namespace

Bits mask_from(const std::string& text, const Layer& visible, PictureShape shape, std::size_t rows, Key key) {
  if (text.starts_with("random:")) return random_mask(text, visible, rows, key);
  if (names_a_box(text)) {
    const std::vector<Site> all = sites(visible);
    require(shape.height > 0 && shape.height * shape.width <= all.size(),
            fmt::format("--mask {}: these rows are no pictures; take random:P or a file", text));
    const Box box = box_named(text, shape);
    Bits out(1, units_of(visible));
    for (std::size_t y = box.y; y < box.y + box.height; ++y) {
      for (std::size_t x = box.x; x < box.x + box.width; ++x) hide(out, 0, all[y * shape.width + x]);
    }
    return out;
  }
  std::error_code ignored;
  require(std::filesystem::exists(text, ignored), fmt::format(kExpected, text));
  return read_mask(text, visible, rows);
}

Bits read_mask(const std::filesystem::path& path, const Layer& visible, std::size_t rows) {
  DataOptions options;
  options.source = path.string();
  options.one_row = true;
  const Dataset data = load_data(options).train;
  const std::vector<Site> all = sites(visible);
  const std::size_t found = data.rows() * data.units();
  if (found != all.size() && found != rows * all.size()) {
    throw DataError(fmt::format(
        "{}: expected a mask of {} values, one for each visible {}{}{}; found {} rows of {}", path.string(), all.size(),
        all.size() < units_of(visible) ? "site" : "unit", visible.parts() > 1 ? ", the last for the label" : "",
        rows > 1 ? fmt::format(", or {} rows of them", rows) : " (`ergodic complete --mask` takes a mask for each row)",
        data.rows(), data.units()));
  }
  Bits out(found / all.size(), units_of(visible));
  for (std::size_t k = 0; k < found; ++k) {
    if (data.bits().get(k / data.units(), k % data.units())) hide(out, k / all.size(), all[k % all.size()]);
  }
  return out;
}

Bits known_without(const Dataset& data, const Bits& hidden) {
  Bits out(data.rows(), data.units());
  for (std::size_t r = 0; r < out.rows(); ++r) {
    for (std::size_t i = 0; i < out.cols(); ++i) {
      const bool masked = hidden.rows() > 0 && hidden.get(hidden.rows() == 1 ? 0 : r, i);
      out.set(r, i, data.is_known(r, i) && !masked);
    }
  }
  return out;
}

}  // namespace ergodic
