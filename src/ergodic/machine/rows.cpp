#include "ergodic/machine/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "ergodic/core/error.hpp"
#include "ergodic/core/permutation.hpp"
#include "ergodic/machine/pictures.hpp"

namespace ergodic {
namespace {

constexpr std::uint8_t kRowStream = 2;  // of splitting: stream 0 sets rows apart, 1 chooses pairs

/// Text that JSON can hold: a file's name may be any bytes.
std::string as_utf8(const std::string& text) {
  const auto replace = nlohmann::json::error_handler_t::replace;
  return nlohmann::json::parse(nlohmann::json(text).dump(-1, ' ', false, replace)).get<std::string>();
}

constexpr char kUnitNames[] = "unit_names", kClassNames[] = "class_names", kAlphabet[] = "alphabet";

std::string list_text(const std::vector<std::string>& names) {
  nlohmann::json out = nlohmann::json::array();
  for (const std::string& name : names) out.push_back(as_utf8(name));
  return out.dump();
}

/// The names that such a list holds; none if there is no list, or if it is not one.
std::vector<std::string> names_under(const std::map<std::string, std::string>& notes, const std::string& key) {
  const auto found = notes.find(key);
  if (found == notes.end()) return {};
  const auto list = nlohmann::json::parse(found->second, nullptr, false);
  if (!list.is_array()) return {};
  std::vector<std::string> out;
  for (const auto& name : list) {
    if (!name.is_string()) return {};
    out.push_back(name.get<std::string>());
  }
  return out;
}

}  // namespace

bool same_slots(const Parameters& a, const Parameters& b) {
  return std::ranges::equal(a.slots(), b.slots(),
                            [](const Slot& x, const Slot& y) { return x.name == y.name && x.shape == y.shape; });
}

std::vector<Choice> unit_type_choices() {
  std::vector<Choice> out;
  for (const auto& [name, help] : unit_types()) out.push_back({std::string(name), std::string(help)});
  return out;
}

std::vector<Choice> visible_type_choices() {
  std::vector<Choice> out = unit_type_choices();
  out.insert(out.begin(), {kAutoType, "potts if the data is an alignment, else bernoulli"});
  return out;
}

ValueKind kind_for_type(const std::string& type) {
  return type == kAutoType ? ValueKind::kBits : kind_for(make_layer(type, 2, 2));
}

Layer visible_layer_for(const std::string& type, const Dataset& data) {
  const bool letters = type == kAutoType && !data.alphabet.empty();
  return make_layer(type != kAutoType ? type : letters ? Potts::kName : Bernoulli::kName, data.units(), data.letters);
}

std::string units_text(const Layer& layer) {
  if (data_values(layer) != UnitValues::kLetters) return fmt::format("{} {}", units_of(layer), name_of(layer));
  return fmt::format("{} sites of {} letters", sites_of(layer), letters_of(layer));
}

ValueKind kind_for(const Layer& visible) {
  if (data_values(visible) == UnitValues::kLetters) return ValueKind::kLetters;
  if (real_valued(visible)) return ValueKind::kReal;
  return low_of(visible) < 0.0f ? ValueKind::kSpins : ValueKind::kBits;
}

void require_kind(const Layer& visible, const Dataset& data) {
  if (real_valued(visible) != data.real()) {
    throw DataError(fmt::format("{}: {} visible units take {}, and these are {}", data.name, name_of(visible),
                                real_valued(visible) ? "real numbers" : "bits or letters",
                                data.real() ? "real numbers; use gaussian ones" : "not"));
  }
  if (data_values(visible) == UnitValues::kNonnegativeReals) {
    for (std::size_t r = 0; r < data.rows(); ++r) {
      for (std::size_t i = 0; i < data.units(); ++i) {
        if (data.reals()(r, i) >= 0.0f) continue;
        throw DataError(fmt::format("{}: row {}, {}: relu units are not negative, found {}; use gaussian ones",
                                    data.name, r + 1, data.column_text(i), data.reals()(r, i)));
      }
    }
  }
  if (data_values(visible) == UnitValues::kLetters && letters_of(visible) != data.letters) {
    throw DataError(fmt::format("{}: expected {} letters, as the machine has; found {}", data.name, letters_of(visible),
                                data.letters));
  }
}

void require_complete(const Dataset& data) {
  if (data.complete()) return;
  throw DataError(fmt::format("{}: expected complete rows, found {} missing values; fill them in, or leave them out",
                              data.name, data.missing()));
}

void require_fit(const Layer& visible, const Dataset& data) {
  require_kind(visible, data);
  if (data.units() != units_of(visible)) {
    const std::size_t letters = data.letters > 0 ? data.letters : 1;
    throw DataError(fmt::format("{}: expected rows of {} {}, as the machine has visible {}; found {}", data.name,
                                units_of(visible) / letters, letters > 1 ? "letters" : "values",
                                letters > 1 ? "sites" : "units", data.units() / letters));
  }
}

State first_rows(const Layer& visible, const Dataset& data, std::size_t count, Key key) {
  std::vector<std::uint32_t> rows(std::min(count, data.rows()));
  std::iota(rows.begin(), rows.end(), 0u);
  return state_of(visible, gather(data, rows, key, 0));
}

State all_rows(const Layer& visible, const Dataset& data, Key key) {
  return first_rows(visible, data, data.rows(), key);
}

State random_rows(const Layer& visible, const Dataset& data, std::size_t count, Key key) {
  std::vector<std::uint32_t> rows = permutation(data.rows(), key.at(Purpose::kSplit, 0, kRowStream));
  rows.resize(std::min(rows.size(), count));
  return state_of(visible, gather(data, rows, key, 0));
}

State random_rows(const State& all, std::size_t count, Key key) {
  if (count >= all.chains()) return all;
  const std::vector<std::uint32_t> order = permutation(all.chains(), key.at(Purpose::kSplit, 0, kRowStream));
  State out = all.rows(0, count);
  for (std::size_t r = 0; r < count; ++r) out.set_row(r, all, order[r]);
  return out;
}

std::map<std::string, std::string> notes_of_data(const Dataset& data) {
  std::map<std::string, std::string> notes;
  if (data.shape.height > 0) notes["picture"] = shape_text(data.shape);
  notes["data"] = as_utf8(std::filesystem::path(data.name).filename().string());
  if (!data.unit_names.empty()) notes[kUnitNames] = list_text(data.unit_names);
  if (!data.class_names.empty()) notes[kClassNames] = list_text(data.class_names);
  if (!data.alphabet.empty()) notes[kAlphabet] = data.alphabet;
  return notes;
}

std::vector<std::string> unit_names_from(const std::map<std::string, std::string>& notes, std::size_t count) {
  std::vector<std::string> out = names_under(notes, kUnitNames);
  return out.size() == count ? out : std::vector<std::string>();
}

std::vector<std::string> class_names_from(const std::map<std::string, std::string>& notes) {
  return names_under(notes, kClassNames);
}

std::string alphabet_from(const std::map<std::string, std::string>& notes, const Layer& visible) {
  const auto found = notes.find(kAlphabet);
  if (found == notes.end() || data_values(visible) != UnitValues::kLetters) return {};
  const std::string& text = found->second;
  const bool printable = std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
  return printable && text.size() == letters_of(visible) ? text : std::string();
}

}  // namespace ergodic
