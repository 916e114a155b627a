#include "ergodic/data/table_layout.hpp"

#include <cassert>
#include <cstddef>
#include <utility>
#include <vector>

namespace ergodic {
namespace {

/// Appends pictures that are so much farther down and to the right; what comes in is 0.
void append_moved(UnitTable& table, std::size_t pictures, PictureShape shape, int down, int right) {
  const auto height = static_cast<int>(shape.height), width = static_cast<int>(shape.width);
  for (std::size_t p = 0; p < pictures; ++p) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const int from_y = y - down, from_x = x - right;
        const bool inside = from_y >= 0 && from_y < height && from_x >= 0 && from_x < width;
        const std::size_t from =
            p * shape.height * shape.width + (inside ? static_cast<std::size_t>(from_y * width + from_x) : 0);
        table.numbers.push_back(inside ? table.numbers[from] : 0.0);
      }
    }
    if (p < table.notes.labels.size()) table.notes.labels.push_back(table.notes.labels[p]);
  }
  table.rows += pictures;
}

}  // namespace

void number_words(CsvTable& table, const TableLayout& layout) {
  for (CsvColumn& column : table.columns) {
    if (!column.words.empty() && column.words == layout.no_and_yes) column.words.clear();  // numbers are their places
  }
}

void arrange(UnitTable& table, const TableLayout& layout, ValueKind kind) {
  if (layout.white != 1.0 && kind != ValueKind::kLetters) {
    for (double& number : table.numbers) number /= layout.white;
  }
  if (layout.shape.height == 0) return;
  assert(table.numbers.size() == table.rows * layout.shape.height * layout.shape.width);
  table.notes.shape = layout.shape;
  if (!layout.nudged) return;
  constexpr std::pair<int, int> kMoves[] = {{-1, 0}, {0, -1}, {0, 1}, {1, 0}};  // down, right
  const std::size_t pictures = table.rows;
  for (const auto& [down, right] : kMoves) append_moved(table, pictures, layout.shape, down, right);
}

}  // namespace ergodic
