// The options by which every command names its data.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "ergodic/data/source.hpp"
#include "ergodic/model/layer.hpp"
#include "ergodic/run/spec.hpp"

namespace ergodic {

template <>
struct Names<Binarise> {
  static constexpr std::array<std::pair<Binarise, std::string_view>, 3> kAll{
      {{Binarise::kThreshold, "threshold"}, {Binarise::kFixed, "fixed"}, {Binarise::kDynamic, "dynamic"}}};
};

/// Which rows of a data set a command works on.
enum class Split { kAuto, kTrain, kTest };

template <>
struct Names<Split> {
  static constexpr std::array<std::pair<Split, std::string_view>, 3> kAll{
      {{Split::kAuto, "auto"}, {Split::kTrain, "train"}, {Split::kTest, "test"}}};
};

/// Adds --data, --labels, --binarise, --threshold, --test-share, --identity and --missing.
void add_data_options(Spec& spec, DataOptions& options);

/// Adds --split to these.
void add_split_option(Spec& spec, Split& split);

/// The chosen part; auto is the test part if there is one, else all. UsageError if there is no test part.
Dataset load_split(const DataOptions& options, Split split);

/// The chosen part for a machine with these visible units: bits or real numbers, as they need. DataError unless it has
/// as many units as the machine and no value is missing.
Dataset load_split_for(const Layer& visible, DataOptions options, Split split);

/// The training part beside the chosen one, in the same way; nothing if that is itself what was chosen.
std::optional<Dataset> load_training_beside(const Layer& visible, DataOptions options, Split split);

/// What values these units take.
ValueKind kind_for(const Layer& visible);
/// DataError unless the data has values that these units take: some sets have real numbers only, and some numbers are
/// negative.
void require_kind(const Layer& visible, const Dataset& data);

/// DataError if a value is missing.
void require_complete(const Dataset& data);

/// The first rows, at most so many, as a state; grey levels are drawn once with the key.
State first_rows(const Layer& visible, const Dataset& data, std::size_t count, Key key);

/// What a model file says of its data: the name of the set without folders, and the shape of a picture.
std::map<std::string, std::string> notes_of_data(const Dataset& data);

}  // namespace ergodic
