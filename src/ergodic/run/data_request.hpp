// The options by which every command names its data.
#pragma once

#include <map>
#include <string>

#include "ergodic/data/source.hpp"
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

/// Adds --data, --labels, --binarise, --threshold and --test-share.
void add_data_options(Spec& spec, DataOptions& options);

/// Adds --split to these.
void add_split_option(Spec& spec, Split& split);

/// The chosen part; auto is the test part if there is one, else all. UsageError if there is no test part.
Dataset load_split(const DataOptions& options, Split split);

/// All rows as bits; grey levels are drawn once with the key.
Bits all_rows(const Dataset& data, Key key);

/// What a model file says of its data: the name of the set without folders, and the shape of a picture.
std::map<std::string, std::string> notes_of_data(const Dataset& data);

/// DataError unless the data has as many units as the machine has visible ones.
void require_matching_units(const Dataset& data, std::size_t visible_units);

}  // namespace ergodic
