// Classifiers: a network with the names of its classes, as a file in the layout of docs/format.md; and whatever else in
// a file names the classes of rows.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/core/matrix.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/machine/model_file.hpp"
#include "ergodic/model/network.hpp"

namespace ergodic {

/// What the metadata of its files names as the model.
inline constexpr char kClassifierKind[] = "network";

struct Classifier {
  Network network;
  std::vector<std::string> class_names;  ///< of each class, if labels were words; or empty
  Notes notes;                           ///< further metadata: picture shape, how it was trained
};

/// Writes the classifier, atomically. The same classifier gives the same bytes.
void save_classifier(const std::filesystem::path& path, const Classifier& classifier);

/// DataError if it is no classifier, or if anything is missing, of another shape, not finite, or damaged.
Classifier load_classifier(const std::filesystem::path& path);

/// What names the classes of rows: a network, or a machine with labels.
struct RowClassifier {
  std::size_t inputs = 0;  ///< values of a row
  std::size_t classes = 0;
  std::vector<std::string> class_names;  ///< or empty
  std::vector<std::string> unit_names;   ///< of the values, or empty
  Notes notes;
  /// p(y | x), a row for each row. Throws Stopped if the observer asks to stop.
  std::function<Matrix<float>(const Dataset& rows, const Context& context)> probabilities;
  std::shared_ptr<const Machine> machine{};  ///< if it is one; then `probabilities` takes complete rows only

  /// A class in messages and tables: its name, or its number.
  std::string name_of(std::size_t label) const {
    return label < class_names.size() ? class_names[label] : std::to_string(label);
  }
};

/// DataError unless the file holds a network or a machine with labels.
RowClassifier load_row_classifier(const std::filesystem::path& path);

}  // namespace ergodic
