// Classifiers: a network with the names of its classes, as a file in the layout of docs/format.md.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ergodic/machine/model_file.hpp"
#include "ergodic/model/network.hpp"

namespace ergodic {

/// What the metadata of its files names as the model.
inline constexpr char kClassifierKind[] = "network";

struct Classifier {
  Network network;
  std::vector<std::string> class_names;  ///< of each class, if labels were words; or empty
  Notes notes;                           ///< further metadata: picture shape, how it was trained

  /// A class in messages and tables: its name, or its number.
  std::string name_of(std::size_t label) const {
    return label < class_names.size() ? class_names[label] : std::to_string(label);
  }
};

/// Writes the classifier, atomically. The same classifier gives the same bytes.
void save_classifier(const std::filesystem::path& path, const Classifier& classifier);

/// DataError if it is no classifier, or if anything is missing, of another shape, not finite, or damaged.
Classifier load_classifier(const std::filesystem::path& path);

}  // namespace ergodic
