#include "ergodic/run/commands/classify_pictures.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "ergodic/machine/pictures.hpp"
#include "ergodic/report/canvas.hpp"
#include "ergodic/trainer/network_learner.hpp"

namespace ergodic {

Image picture_of_confusion(const Matrix<std::uint64_t>& confusion,
                           const std::function<std::string(std::size_t label)>& name_of) {
  constexpr std::size_t kCell = 36, kLeft = 70, kTop = 40, kMargin = 12;
  const std::size_t classes = confusion.rows();
  Canvas canvas(kLeft + classes * kCell + kMargin, kTop + classes * kCell + kMargin);
  canvas.write(kLeft, 8, "found");
  canvas.write(8, kTop - 12, "true");
  for (std::size_t i = 0; i < classes; ++i) {
    const auto total = static_cast<double>(std::max<std::uint64_t>(
        std::accumulate(confusion.row(i).begin(), confusion.row(i).end(), std::uint64_t{0}), 1));
    canvas.write(8, kTop + i * kCell + kCell / 2, name_of(i).substr(0, 9));
    canvas.write(kLeft + i * kCell + 4, kTop - 12, name_of(i).substr(0, 5));
    for (std::size_t j = 0; j < classes; ++j) {
      const double share = static_cast<double>(confusion(i, j)) / total;
      // Few mistakes are to be seen too.
      const double shade = i == j ? 0.6 * share : std::min(1.0, 12.0 * share);
      const Colour ink = i == j ? Colour{40, 90, 160} : Colour{190, 50, 40};
      const std::size_t x = kLeft + j * kCell, y = kTop + i * kCell;
      canvas.fill(x, y, kCell - 1, kCell - 1, blend(kPaper, ink, shade));
      const std::string text = confusion(i, j) > 0 ? std::to_string(confusion(i, j)) : "";
      canvas.write(x + (kCell - std::min(kCell, text_width(text))) / 2, y + kCell / 2 - 4, text,
                   shade > 0.5 ? kPaper : kBlack);
    }
  }
  return canvas.take();
}

std::vector<std::uint32_t> worst_rows(const Matrix<float>& probabilities, std::span<const int> labels,
                                      std::size_t most) {
  std::vector<std::uint32_t> out;
  const auto right = [&](std::uint32_t r) { return probabilities(r, static_cast<std::size_t>(labels[r])); };
  for (std::uint32_t r = 0; r < labels.size(); ++r) {
    const std::span<const float> row = probabilities.row(r);
    if (std::ranges::max_element(row) - row.begin() != labels[r]) out.push_back(r);
  }
  std::ranges::stable_sort(out, {}, right);
  out.resize(std::min(out.size(), most));
  return out;
}

Image picture_of_inputs(const Dataset& data, std::span<const std::uint32_t> rows) {
  Matrix<float> values(rows.size(), data.units());
  gather_inputs(data, rows, values);
  return picture_of_rows(values, data.shape);
}

}  // namespace ergodic
