// The options by which every command names its data, and what they load.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ergodic/data/source.hpp"
#include "ergodic/machine/machine.hpp"
#include "ergodic/machine/model_file.hpp"
#include "ergodic/option/spec.hpp"

namespace ergodic {

template <>
struct Names<Binarise> {
  static constexpr std::array<Named<Binarise>, 3> kAll{
      {{Binarise::kThreshold, "threshold", "on from a threshold up"},
       {Binarise::kFixed, "fixed", "one random draw by grey level, the same for everybody"},
       {Binarise::kDynamic, "dynamic", "a new random draw each epoch"}}};
};

/// Which rows of a data set a command works on.
enum class Split { kAuto, kTrain, kTest };

template <>
struct Names<Split> {
  static constexpr std::array<Named<Split>, 3> kAll{
      {{Split::kAuto, "auto", "the test part if there is one, else all rows"},
       {Split::kTrain, "train", "the training part"},
       {Split::kTest, "test", "the test part"}}};
};

/// --data, --labels, --label-column, --columns, --drop, --array, --binarise, --threshold, --test-share, --identity and
/// --missing.
const Spec<DataOptions>& data_spec();
/// All of them but --missing, for commands that need complete rows.
const Spec<DataOptions>& complete_data_spec();

/// The names of all named sets, and of those that `ergodic data get` brings.
std::vector<std::string> names_of_sets();
std::vector<std::string> sets_to_fetch();

/// Adds --split.
template <class Request, class Field>
void add_split(Spec<Request>& spec, Field field) {
  spec.add("split", field, "which part of the data");
}

/// Loads the data, and warns of what is odd about it.
DataParts load_parts(const DataOptions& options, const Context& context);

/// The chosen part. UsageError if there is no test part.
Dataset load_split(const DataOptions& options, Split split, const Context& context);

/// The chosen part of the data as a machine takes it, and the training part if that is another one.
struct SplitData {
  Dataset chosen;
  std::optional<Dataset> training;
};
/// DataError unless the rows fit the machine. A machine that knows the names of its units takes these from a table.
SplitData load_split_for(const ModelFile& file, DataOptions options, Split split, const Context& context);

/// How much memory a data set takes.
std::size_t bytes_of(const Dataset& data);
/// A digest of all that is in it.
std::string digest_of(const Dataset& data);

}  // namespace ergodic
