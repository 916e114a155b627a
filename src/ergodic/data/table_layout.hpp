// What there is to know about a published table beside its numbers: the column of labels, the scale, pictures.
#pragma once

#include <string>
#include <vector>

#include "ergodic/data/dataset.hpp"
#include "ergodic/data/table.hpp"

namespace ergodic {

struct TableLayout {
  std::string label_column{};             ///< as in TableOptions; or empty
  double white = 1.0;                     ///< the number that is read as 1
  PictureShape shape{};                   ///< of a row that is a picture
  bool nudged = false;                    ///< all pictures, then all of them moved up, left, right and down by a pixel
  std::vector<std::string> no_and_yes{};  ///< the two words of columns that are 0 and 1, in alphabetical order; or none
};

/// Makes columns that say no and yes, in the words of the layout, columns of 0 and 1.
void number_words(CsvTable& table, const TableLayout& layout);
/// Brings the units of a table into the layout. Values that become letters keep their scale.
void arrange(UnitTable& table, const TableLayout& layout, ValueKind kind);

}  // namespace ergodic
