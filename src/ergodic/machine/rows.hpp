// Rows of a data set as states of a layer, and what a layer takes from data.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "ergodic/core/random.hpp"
#include "ergodic/data/in_memory.hpp"
#include "ergodic/model/layer.hpp"
#include "ergodic/model/parameters.hpp"
#include "ergodic/option/option.hpp"

namespace ergodic {

/// What the site of a label is called among the names of units, and the column of it in a table.
inline constexpr char kLabelName[] = "label";

/// Whether two sets of parameters have the same slots.
bool same_slots(const Parameters& a, const Parameters& b);

/// The unit types as choices of an option.
std::vector<Choice> unit_type_choices();

/// The type of visible units that the data decides: letters for an alignment, else bits.
inline constexpr char kAutoType[] = "auto";
/// The types of visible units as choices, kAutoType first.
std::vector<Choice> visible_type_choices();
/// What values units of a type take, and the visible units of this type for this data.
ValueKind kind_for_type(const std::string& type);
Layer visible_layer_for(const std::string& type, const Dataset& data);

/// "784 bernoulli", or "159 sites of 21 letters".
std::string units_text(const Layer& layer);

/// What values these units take.
ValueKind kind_for(const Layer& visible);

/// DataError unless the data has values that these units take: some sets have real numbers only, and some numbers are
/// negative.
void require_kind(const Layer& visible, const Dataset& data);
/// DataError if a value is missing.
void require_complete(const Dataset& data);
/// DataError unless the data has values and as many units as this layer takes.
void require_fit(const Layer& visible, const Dataset& data);

/// The first rows, at most so many, as a state; grey levels are drawn once with the key.
State first_rows(const Layer& visible, const Dataset& data, std::size_t count, Key key);
State all_rows(const Layer& visible, const Dataset& data, Key key);
/// So many rows at random, in random order, as a state; all if there are no more.
State random_rows(const Layer& visible, const Dataset& data, std::size_t count, Key key);
/// So many rows of a state at random; the state itself if it has no more.
State random_rows(const State& all, std::size_t count, Key key);

/// What a model file says of its data: the name of the set without folders, the shape of a picture, the names of units
/// and classes, and the alphabet of an alignment.
std::map<std::string, std::string> notes_of_data(const Dataset& data);
/// The names of units in a model file's notes; empty if it has none, or not so many.
std::vector<std::string> unit_names_from(const std::map<std::string, std::string>& notes, std::size_t count);
/// The names of classes in a model file's notes; empty if it has none.
std::vector<std::string> class_names_from(const std::map<std::string, std::string>& notes);

/// The characters of these units' letters in a model file's notes; empty if the units are no letters, or there are not
/// as many.
std::string alphabet_from(const std::map<std::string, std::string>& notes, const Layer& visible);

}  // namespace ergodic
