#include "ergodic/data/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "ergodic/core/error.hpp"
#include "ergodic/core/number_text.hpp"
#include "ergodic/format/bytes.hpp"

namespace ergodic {
namespace {

constexpr int kNoLabel = -1;  // as data sets have it

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Whether all that there is, the first line included, are words of one length, long enough for sequences.
bool looks_like_sequences(const CsvTable& table) {
  constexpr std::size_t kShortest = 4;
  if (table.columns.size() != 1 || table.columns[0].words.empty()) return false;
  const std::size_t length = table.columns[0].name.size();
  const auto fits = [&](const std::string& word) { return word.size() == length; };
  return length >= kShortest && std::ranges::all_of(table.columns[0].words, fits);
}

/// A column's fields in the order of the rows.
class Column {
 public:
  Column(const CsvTable& table, std::size_t index) : table_(table), index_(index) {}

  const std::string& name() const { return table_.columns[index_].name; }
  const std::vector<std::string>& words() const { return table_.columns[index_].words; }
  double number(std::size_t row) const { return table_.numbers[row * table_.columns.size() + index_]; }
  std::string text() const { return column_text(index_, name()); }

  /// DataError if its fields will not do.
  void require_sound(const std::string& where) const {
    const std::string& problem = table_.columns[index_].problem;
    if (problem.empty()) return;
    throw DataError(
        fmt::format("{}: {}{}", where, problem,
                    problem.find("--missing") == std::string::npos ? "; or leave the column out with --drop" : ""));
  }

  /// Whether it has words that do not all say true or false.
  bool has_categories() const {
    return std::ranges::any_of(words(), [](const auto& word) { return !truth_of(word).has_value(); });
  }

  /// Whether it counts the rows, from 0 or 1 on.
  bool counts() const {
    if (!words().empty() || table_.rows < 2 || (number(0) != 0.0 && number(0) != 1.0)) return false;
    for (std::size_t r = 1; r < table_.rows; ++r) {
      if (number(r) != number(0) + static_cast<double>(r)) return false;
    }
    return true;
  }

 private:
  const CsvTable& table_;
  std::size_t index_;
};

/// Some of the names of a table, for messages.
std::string names_text(const CsvTable& table) {
  if (!table.header) return fmt::format("it has no header and {} columns", table.columns.size());
  constexpr std::size_t kMost = 20;
  std::string out = "there are: ";
  for (std::size_t c = 0; c < std::min(table.columns.size(), kMost); ++c) {
    out += fmt::format("{}{}", c > 0 ? ", " : "", column_text(c, table.columns[c].name));
  }
  return out + (table.columns.size() > kMost ? ", ..." : "");
}

/// The column that an option means: by its name, else by its number.
std::size_t find_column(const CsvTable& table, std::string_view wanted, const std::string& where,
                        std::string_view option) {
  std::vector<std::size_t> found;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (!table.columns[c].name.empty() && table.columns[c].name == wanted) found.push_back(c);
  }
  require(found.size() < 2, fmt::format("{}: {}: {} columns are named {}; give the number of one, counted from 1",
                                        where, option, found.size(), excerpt(wanted)));
  if (!found.empty()) return found[0];
  const std::optional<std::size_t> number = number_in<std::size_t>(wanted);
  require(number && *number >= 1 && *number <= table.columns.size(),
          fmt::format("{}: {}: no column {}; {}", where, option, excerpt(wanted), names_text(table)));
  return *number - 1;
}

std::set<std::size_t> find_columns(const CsvTable& table, std::string_view list, const std::string& where,
                                   std::string_view option) {
  std::set<std::size_t> out;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    out.insert(find_column(table, list.substr(0, end), where, option));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return out;
}

bool is_index_name(const std::string& name) {
  std::string lower;
  for (const char c : name) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower.empty() || lower == "id" || lower == "index";
}

using Names = std::set<std::string, std::less<>>;

/// Reads columns one after the other into units.
class Reader {
 public:
  Reader(CsvTable& table, const std::string& where, const TableOptions& options, ValueKind kind)
      : table_(table), where_(where), options_(options), kind_(kind) {}

  UnitTable read() {
    std::optional<std::size_t> label;
    if (!options_.label_column.empty()) {
      label = find_column(table_, options_.label_column, where_, "--label-column");
      add_labels(*label);
    }
    const Names distinct(options_.units.begin(), options_.units.end());
    const bool named = table_.header && !distinct.empty() && distinct.size() == options_.units.size();
    const std::vector<std::size_t> columns = wanted(label, named);
    if (named) {
      add_named(columns, distinct);
    } else {
      for (const std::size_t c : columns) add_column(Column(table_, c));
    }
    require(!units_.empty(), where_ + ": no column is left; leave out less with --drop or --columns");
    warn_of_header();
    out_.rows = table_.rows;
    const bool as_it_is = !named && std::ranges::all_of(table_.columns, [](const auto& c) { return c.words.empty(); });
    if (as_it_is && units_.size() == table_.columns.size()) {
      out_.numbers = std::move(table_.numbers);  // a large table is not held twice
    } else {
      fill();
    }
    if (!table_.header) out_.notes.unit_names.clear();
    return std::move(out_);
  }

 private:
  void fill() {
    out_.numbers.resize(table_.rows * units_.size());
    for (std::size_t r = 0; r < table_.rows; ++r) {
      for (std::size_t u = 0; u < units_.size(); ++u) out_.numbers[r * units_.size() + u] = units_[u](r);
    }
  }

  /// The columns to read; an index is among them only if it is asked for, be it by the name of a machine's unit.
  std::vector<std::size_t> wanted(std::optional<std::size_t> label, bool named) {
    const std::set<std::size_t> only = find_columns(table_, options_.columns, where_, "--columns");
    const std::set<std::size_t> dropped = find_columns(table_, options_.drop, where_, "--drop");
    std::vector<std::size_t> out;
    for (std::size_t c = 0; c < table_.columns.size(); ++c) {
      if (label == c || dropped.contains(c) || (!only.empty() && !only.contains(c))) continue;
      if (c == 0 && only.empty() && !named && is_index(Column(table_, c))) continue;
      out.push_back(c);
    }
    return out;
  }

  bool is_index(const Column& first) {
    if (!table_.header || table_.columns.size() < 2 || !is_index_name(first.name()) || !first.counts()) return false;
    out_.warnings.push_back(
        fmt::format("{}: column {} counts the rows and is left out; to keep it, name all columns with --columns",
                    where_, first.text()));
    return true;
  }

  /// A first line without names above it may be taken for names: if it has words only, or counts the columns.
  void warn_of_header() {
    if (!table_.header) return;
    if (table_.columns[0].name == "0") {
      out_.warnings.push_back(fmt::format(
          "{}: the first line, 0, 1, 2, ..., is read as the names of columns; if it is a row, put a line of names "
          "before it",
          where_));
      return;
    }
    if (looks_like_sequences(table_)) {
      out_.warnings.push_back(fmt::format(
          "{}: one column of words of the same length is read as categories; if they are aligned sequences, put a line "
          "\">name\" before each",
          where_));
      return;
    }
    const auto recurs = [](const CsvColumn& column) {
      return std::ranges::find(column.words, column.name) != column.words.end();
    };
    if (!std::ranges::all_of(table_.columns, recurs)) return;
    out_.warnings.push_back(fmt::format(
        "{}: the first line is read as the names of columns, but its words stand below too; if it is a row, "
        "put a line of names before it",
        where_));
  }

  void add_labels(std::size_t index) {
    const Column column(table_, index);
    column.require_sound(where_);
    out_.class_names = column.words().empty() || options_.classes.empty() ? column.words() : options_.classes;
    const std::vector<double> labels = labels_of_words(column);
    for (std::size_t r = 0; r < table_.rows; ++r) {
      const double number = column.number(r);
      const double value = std::isnan(number) ? kNoLabel
                           : labels.empty()   ? number
                                              : labels[static_cast<std::size_t>(number)];
      if (!(value >= -1e9 && value <= 1e9) || value != std::floor(value)) {
        throw DataError(fmt::format("{}: row {}, column {}: expected a word or a whole number as label, found {}",
                                    where_, r + 1, column.text(), value));
      }
      out_.notes.labels.push_back(static_cast<int>(value));
    }
  }

  /// The label of each word of a column, by the classes of a machine; none if the words number themselves.
  std::vector<double> labels_of_words(const Column& column) const {
    std::vector<double> out;
    if (options_.classes.empty()) return out;
    for (const std::string& word : column.words()) {
      const auto place = std::ranges::find(options_.classes, word);
      if (place == options_.classes.end()) {
        throw DataError(
            fmt::format("{}: column {}: the machine has no class {}", where_, column.text(), excerpt(word)));
      }
      out.push_back(static_cast<double>(place - options_.classes.begin()));
    }
    return out;
  }

  /// The units of a machine, each from the column of its name, or from a word of one. What a column holds was settled
  /// when the machine was trained: here it may lack some of its words, or all of its values.
  void add_named(const std::vector<std::size_t>& columns, const Names& units) {
    std::multimap<std::string_view, std::size_t> by_name;
    for (const std::size_t c : columns) by_name.emplace(table_.columns[c].name, c);
    std::set<std::size_t> of_words;
    for (const std::string& unit : options_.units) {
      const std::vector<Place> found = places_of(unit, by_name, units);
      if (found.size() != 1) {
        throw DataError(fmt::format("{}: expected a column for the machine's unit {}, found {}; {}", where_,
                                    excerpt(unit), found.empty() ? "none" : std::to_string(found.size()),
                                    names_text(table_)));
      }
      const auto& [index, word] = found[0];
      const Column column(table_, index);
      if (!word) {
        require_no_categories(column);
        add_column(column);
        continue;
      }
      if (of_words.insert(index).second) require_known_words(column, units);
      const auto place = std::ranges::find(column.words(), *word);
      add_word(column, unit, static_cast<std::size_t>(place - column.words().begin()));
    }
  }

  /// A column that may hold a unit: as it is, or as one of its words.
  struct Place {
    std::size_t column;
    std::optional<std::string_view> word;
  };

  /// All columns that may hold a unit. One that is a unit itself has no words for others.
  static std::vector<Place> places_of(std::string_view unit,
                                      const std::multimap<std::string_view, std::size_t>& by_name, const Names& units) {
    std::vector<Place> out;
    const auto add = [&](std::string_view name, std::optional<std::string_view> word) {
      const auto [first, last] = by_name.equal_range(name);
      for (auto it = first; it != last; ++it) out.push_back({it->second, word});
    };
    add(unit, std::nullopt);
    for (std::size_t at = unit.find('='); at != std::string_view::npos; at = unit.find('=', at + 1)) {
      if (!units.contains(unit.substr(0, at))) add(unit.substr(0, at), unit.substr(at + 1));
    }
    return out;
  }

  void require_no_categories(const Column& column) const {
    if (!column.has_categories()) return;
    const auto word = std::ranges::find_if(column.words(), [](const auto& w) { return !truth_of(w).has_value(); });
    throw DataError(fmt::format("{}: column {}: the machine was trained on numbers, or true and false, here; found {}",
                                where_, column.text(), excerpt(*word)));
  }

  /// Units of a machine that are words of a column are all the words that it may have.
  void require_known_words(const Column& column, const Names& units) const {
    column.require_sound(where_);
    for (const std::string& word : column.words()) {
      if (units.contains(column.name() + "=" + word)) continue;
      throw DataError(
          fmt::format("{}: column {}: the machine has no unit for the word {}", where_, column.text(), excerpt(word)));
    }
    for (std::size_t r = 0; column.words().empty() && r < table_.rows; ++r) {
      if (std::isnan(column.number(r))) continue;
      throw DataError(fmt::format("{}: row {}, column {}: the machine was trained on words here; found the number {}",
                                  where_, r + 1, column.text(), column.number(r)));
    }
  }

  void add_column(const Column& column) {
    column.require_sound(where_);
    if (column.words().empty()) {
      add_unit(column, column.name(), [column](std::size_t r) { return column.number(r); });
    } else if (column.has_categories()) {
      add_categories(column);
    } else {
      add_unit(column, column.name(), [column](std::size_t r) {
        const double word = column.number(r);
        return std::isnan(word) ? kNan : *truth_of(column.words()[static_cast<std::size_t>(word)]) ? 1.0 : 0.0;
      });
    }
  }

  void add_categories(const Column& column) {
    const std::size_t count = column.words().size();
    const std::string drop = "--drop " + (column.name().empty() ? column.text() : column.name());
    if (kind_ == ValueKind::kLetters) {
      throw DataError(
          fmt::format("{}: column {}: letters are whole numbers from 0 up, found words such as {}; take bernoulli "
                      "units, or leave the column out with {}",
                      where_, column.text(), excerpt(column.words()[0]), drop));
    }
    if (count > kMostCategories) {
      throw DataError(
          fmt::format("{}: column {}: {} different words, such as {}, are too many to be units ({} at most); leave the "
                      "column out with {}",
                      where_, column.text(), count, excerpt(column.words()[0]), kMostCategories, drop));
    }
    for (std::size_t k = 0; k < count; ++k) {
      add_word(column, fmt::format("{}={}", column.name(), column.words()[k]), k);
    }
  }

  /// A unit that is 1 where the column has its k-th word.
  void add_word(const Column& column, std::string name, std::size_t k) {
    add_unit(column, std::move(name), [column, k](std::size_t r) {
      return std::isnan(column.number(r)) ? kNan : column.number(r) == static_cast<double>(k) ? 1.0 : 0.0;
    });
  }

  void add_unit(const Column& column, std::string name, std::function<double(std::size_t row)> value) {
    out_.notes.unit_names.push_back(std::move(name));
    out_.notes.columns.push_back(column.text());
    units_.push_back(std::move(value));
  }

  CsvTable& table_;
  const std::string& where_;
  const TableOptions& options_;
  ValueKind kind_;
  std::vector<std::function<double(std::size_t row)>> units_;
  UnitTable out_;
};

}  // namespace

UnitTable units_of(CsvTable table, const std::string& where, const TableOptions& options, ValueKind kind) {
  return Reader(table, where, options, kind).read();
}

}  // namespace ergodic
