#include "ergodic/data/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string_view>

#include "ergodic/core/error.hpp"
#include "ergodic/core/number_text.hpp"
#include "ergodic/format/bytes.hpp"

namespace ergodic {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

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
    const std::vector<std::size_t> columns = wanted(label);
    const std::set<std::string> distinct(options_.units.begin(), options_.units.end());
    const bool named = table_.header && !distinct.empty() && distinct.size() == options_.units.size();
    if (named) {
      add_named(columns);
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

  std::vector<std::size_t> wanted(std::optional<std::size_t> label) {
    const std::set<std::size_t> only = find_columns(table_, options_.columns, where_, "--columns");
    const std::set<std::size_t> dropped = find_columns(table_, options_.drop, where_, "--drop");
    std::vector<std::size_t> out;
    for (std::size_t c = 0; c < table_.columns.size(); ++c) {
      if (label == c || dropped.contains(c) || (!only.empty() && !only.contains(c))) continue;
      if (c == 0 && only.empty() && options_.units.empty() && is_index(Column(table_, c))) continue;
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

  /// A first line of words without names above it is taken for names.
  void warn_of_header() {
    if (!table_.header) return;
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
    out_.class_names = column.words();
    for (std::size_t r = 0; r < table_.rows; ++r) {
      const double value = column.number(r);
      if (!(value >= -1e9 && value <= 1e9) || value != std::floor(value)) {
        throw DataError(fmt::format("{}: row {}, column {}: expected a word or a whole number as label, found {}",
                                    where_, r + 1, column.text(), value));
      }
      out_.notes.labels.push_back(static_cast<int>(value));
    }
  }

  /// The units of a machine, each from the column of its name, or from a word of one.
  void add_named(const std::vector<std::size_t>& columns) {
    for (const std::string& unit : options_.units) {
      const auto found =
          std::ranges::count_if(columns, [&](std::size_t c) { return add_if_named(Column(table_, c), unit); });
      if (found == 1) continue;
      throw DataError(fmt::format("{}: expected a column for the machine's unit {}, found {}; {}", where_,
                                  excerpt(unit), found == 0 ? "none" : std::to_string(found), names_text(table_)));
    }
    for (const std::size_t c : columns) require_known_words(Column(table_, c));
  }

  bool add_if_named(const Column& column, const std::string& unit) {
    if (unit == column.name() && !column.has_categories()) {
      add_column(column);
      return true;
    }
    const std::string start = column.name() + "=";
    if (!column.has_categories() || !unit.starts_with(start)) return false;
    column.require_sound(where_);
    const auto place = std::ranges::find(column.words(), unit.substr(start.size()));
    add_word(column, unit, static_cast<std::size_t>(place - column.words().begin()));
    return true;
  }

  /// If some units are words of a column, all its words are.
  void require_known_words(const Column& column) const {
    const std::string start = column.name() + "=";
    if (std::ranges::none_of(options_.units, [&](const auto& name) { return name.starts_with(start); })) return;
    for (const std::string& word : column.words()) {
      if (std::ranges::find(options_.units, start + word) != options_.units.end()) continue;
      throw DataError(
          fmt::format("{}: column {}: the machine has no unit for the word {}", where_, column.text(), excerpt(word)));
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
