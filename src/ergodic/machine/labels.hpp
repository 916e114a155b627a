// Labels as units of a machine: after the values of a row, one site of letters that says its class.
#pragma once

#include <cstddef>

#include "ergodic/data/dataset.hpp"
#include "ergodic/model/layer.hpp"

namespace ergodic {

/// {0,1} units beside one site with a letter for each class.
Layer labelled_layer(std::size_t values, std::size_t classes);

/// DataError if a row has no label.
void require_every_label(const Dataset& data);

/// How many classes a machine for this data has, two at least; DataError if they are too many.
std::size_t label_classes(const Dataset& data);

/// Rows of so many values with their labels as further units, one of which is on: the first, if the label is -1, which
/// is then missing. Rows that have such units already, as `sample` writes them, stay as they are. DataError for other
/// labels than these and 0 to classes - 1.
Dataset with_label_units(Dataset data, std::size_t values, std::size_t classes);

}  // namespace ergodic
