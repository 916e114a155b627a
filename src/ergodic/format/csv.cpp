#include "ergodic/format/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ergodic/core/error.hpp"
#include "ergodic/core/number_text.hpp"
#include "ergodic/format/bytes.hpp"
#include "ergodic/format/file.hpp"
#include "ergodic/format/utf8.hpp"

namespace ergodic {
namespace {

/// Semicolons first: where they separate, a comma may be a decimal one, which is then refused as no number.
char separator_of(std::string_view line) {
  bool quote = false;
  constexpr std::string_view kBySeniority = ";\t,";
  std::size_t rank = kBySeniority.size();
  for (const char c : line) {
    if (c == '"') quote = !quote;
    if (!quote) rank = std::min(rank, std::min(kBySeniority.find(c), kBySeniority.size()));
  }
  return rank < kBySeniority.size() ? kBySeniority[rank] : ' ';
}

/// A name or a word, without quotes around it: a doubled quote stands for one.
std::string unescaped(std::string_view field) {
  std::string out;
  for (std::size_t i = 0; i < field.size(); ++i) {
    out += field[i];
    if (field.substr(i, 2) == "\"\"") ++i;
  }
  return utf8_from(out);
}

std::errc parse_number(std::string_view field, double& value) {
  if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);  // from_chars takes no plus
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  return end == field.data() + field.size() ? error : std::errc::invalid_argument;
}

/// Whether a line has the names that pandas gives columns without names: 0, 1, 2, ..., after an empty one if there is
/// an index. Without an index a few numbers may as well be a row.
bool counts_columns(std::span<const std::string_view> fields) {
  constexpr std::size_t kFewest = 8, kFewestAfterIndex = 3;
  const bool index = fields[0].empty();
  fields = fields.subspan(index ? 1 : 0);
  if (fields.size() < (index ? kFewestAfterIndex : kFewest)) return false;
  for (std::size_t k = 0; k < fields.size(); ++k) {
    if (number_in<std::size_t>(fields[k]) != k) return false;
  }
  return true;
}

/// Whether a field that is no number is one in another notation: "0,5", "1,000" or "50%".
bool is_foreign_number(std::string_view field) {
  if (field.find_first_not_of("+-0123456789.,%") != std::string_view::npos) return false;
  return field.find_first_of(",%") != std::string_view::npos &&
         field.find_first_of("0123456789") != std::string_view::npos;
}

class TableParser {
 public:
  TableParser(std::string_view text, const std::string& where, Missing missing)
      : lines_(text), where_(where), missing_(missing) {}

  CsvTable parse() {
    if (!next_line()) throw DataError(fmt::format("{}: expected rows of numbers, found no line with content", where_));
    separator_ = separator_of(lines_.line());
    first_line_ = lines_.number();
    split();
    if (fields_.size() > kMostCsvColumns) {
      fail(fmt::format("expected at most {} fields, found {}; is each row a line of its own?", kMostCsvColumns,
                       fields_.size()));
    }
    table_.columns.resize(fields_.size());
    seen_.resize(fields_.size());
    table_.header = is_header();
    if (table_.header) {
      for (std::size_t c = 0; c < fields_.size(); ++c) table_.columns[c].name = unescaped(fields_[c]);
    } else {
      add_row();
    }
    while (next_line()) {
      split();
      add_row();
    }
    if (table_.rows == 0) {
      fail(fmt::format("expected rows of numbers after the header {}, found the end of the file",
                       excerpt(lines_.line())));
    }
    for (std::size_t c = 0; c < seen_.size(); ++c) sort_words(c);
    return std::move(table_);
  }

 private:
  /// What a column has shown so far.
  struct Seen {
    bool numbers = false;
    std::unordered_map<std::string_view, std::size_t> words{};  // in the order of their first lines
  };

  /// Goes to the next line that counts: neither blank nor a comment.
  bool next_line() {
    while (lines_.next()) {
      const std::string_view content = without_blanks(lines_.line());
      if (!content.empty() && content.front() != '#') return true;
    }
    return false;
  }

  /// Cuts the line into fields_, trimmed and without their quotes. Runs of blanks separate once.
  void split() {
    fields_.clear();
    std::string_view rest = separator_ == ' ' ? without_blanks(lines_.line()) : lines_.line();
    bool quote = false;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      if (rest[i] == '"') quote = !quote;
      const bool cut = !quote && (rest[i] == separator_ || (separator_ == ' ' && rest[i] == '\t'));
      if (!cut) continue;
      if (separator_ != ' ' || i > begin) add_field(rest.substr(begin, i - begin));
      begin = i + 1;
    }
    if (quote) fail("expected a closing quote on the same line, found the end of the line");
    add_field(rest.substr(begin));
  }

  void add_field(std::string_view field) {
    field = without_blanks(field);
    if (has_control_characters(field)) fail(fmt::format("expected text, found {}", excerpt(field)));
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"') {
      field = without_blanks(field.substr(1, field.size() - 2));
    }
    fields_.push_back(field);
  }

  /// A line without a number, or one that numbers the columns; a row whose values are all missing is none, and neither
  /// is one of truth values.
  bool is_header() const {
    if (counts_columns(fields_)) return true;
    if (missing_ == Missing::kAllowed && std::ranges::all_of(fields_, stands_for_missing)) return false;
    if (std::ranges::all_of(fields_, [](std::string_view field) { return truth_of(field).has_value(); })) return false;
    return std::ranges::none_of(fields_, [](std::string_view field) {
      double ignored = 0.0;
      return parse_number(field, ignored) != std::errc::invalid_argument;
    });
  }

  void add_row() {
    if (fields_.size() != table_.columns.size()) {
      const bool blanks = separator_ == ' ' && table_.header;
      fail(fmt::format("expected {} fields as in the first line, found {}{}", table_.columns.size(), fields_.size(),
                       blanks ? "; if a name has blanks in it, put it in quotes" : ""));
    }
    for (std::size_t c = 0; c < fields_.size(); ++c) table_.numbers.push_back(number_for(c, fields_[c]));
    ++table_.rows;
  }

  /// The number that stands for a field.
  double number_for(std::size_t column, std::string_view field) {
    Seen& seen = seen_[column];
    double value = std::numeric_limits<double>::quiet_NaN();
    if (stands_for_missing(field)) {
      if (missing_ == Missing::kAllowed) return value;
      note(column,
           fmt::format(
               "expected a {}, found {}; fill in or remove missing values, or say --missing if the command takes it",
               seen.words.empty() ? "number" : "word", field.empty() ? "an empty field" : excerpt(field)));
      return value;
    }
    const std::errc error = parse_number(field, value);
    if (error == std::errc::result_out_of_range) {
      note(column, fmt::format("{} is out of the range of a 64-bit float", excerpt(field)));
    } else if (error == std::errc()) {
      if (std::isnan(value)) return value;
      seen.numbers = true;
      if (!seen.words.empty()) {
        const bool maybe_name = !table_.header && seen.words.size() == 1 && table_.columns[column].line == first_line_;
        note(column, fmt::format("expected a word such as {}, found the number {}{}",
                                 excerpt(seen.words.begin()->first), excerpt(field),
                                 maybe_name ? "; if the first line has names, none of them may be a number" : ""));
      }
    } else if (seen.numbers || is_foreign_number(field)) {
      note(column, fmt::format("expected a number such as 0.5, found {}", excerpt(field)));
    } else {
      if (seen.words.empty()) table_.columns[column].line = lines_.number();
      value = static_cast<double>(seen.words.try_emplace(field, seen.words.size()).first->second);
    }
    return value;
  }

  /// Keeps the first problem of a column.
  void note(std::size_t column, const std::string& problem) {
    CsvColumn& noted = table_.columns[column];
    if (!noted.problem.empty()) return;
    noted.problem = fmt::format("line {}: column {}: {}", lines_.number(), column_text(column, noted.name), problem);
  }

  /// Puts the words of a column into their order, and its numbers with them.
  void sort_words(std::size_t column) {
    if (!table_.columns[column].problem.empty() || seen_[column].words.empty()) return;
    std::vector<std::pair<std::string, std::size_t>> words;
    for (const auto& [word, place] : seen_[column].words) words.emplace_back(unescaped(word), place);
    std::ranges::sort(words);
    std::vector<double> places(words.size());
    for (std::size_t k = 0; k < words.size(); ++k) {
      places[words[k].second] = static_cast<double>(k);
      table_.columns[column].words.push_back(std::move(words[k].first));
    }
    for (std::size_t k = column; k < table_.numbers.size(); k += table_.columns.size()) {
      double& number = table_.numbers[k];
      if (!std::isnan(number)) number = places[static_cast<std::size_t>(number)];
    }
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw DataError(fmt::format("{}: line {}: {}", where_, lines_.number(), problem));
  }

  TextLines lines_;
  const std::string& where_;
  Missing missing_;
  char separator_ = ' ';
  std::size_t first_line_ = 0;  // its number: blank lines and comments may stand before it
  std::vector<std::string_view> fields_;
  std::vector<Seen> seen_;
  CsvTable table_;
};

/// A field as it stands in a file: in quotes if it would be read as several, or its line as none. `alone` on its line,
/// a blank would separate, and nothing would be a blank line.
std::string quoted(const std::string& field, bool alone) {
  const bool plain = field.find_first_of(",;\"\n\r") == std::string::npos && !field.starts_with('#');
  if (plain && !(alone && (field.empty() || field.find(' ') != std::string::npos))) return field;
  std::string out = "\"";
  for (const char c : field) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

}  // namespace

CsvTable parse_csv(std::span<const std::byte> file, const std::string& where, Missing missing) {
  return TableParser(as_text(file), where, missing).parse();
}

Array numbers_of(const CsvTable& table, const std::string& where) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const CsvColumn& column = table.columns[c];
    if (!column.problem.empty()) throw DataError(fmt::format("{}: {}", where, column.problem));
    if (column.words.empty()) continue;
    throw DataError(fmt::format("{}: line {}: column {}: expected a number such as 0.5, found words such as {}", where,
                                column.line, column_text(c, column.name), excerpt(column.words[0])));
  }
  const auto bytes = std::as_bytes(std::span(table.numbers));
  return {ElementType::kFloat64, {table.rows, table.columns.size()}, {bytes.begin(), bytes.end()}};
}

bool stands_for_missing(std::string_view field) { return field.empty() || field == "NA" || field == "?"; }

std::optional<bool> truth_of(std::string_view word) {
  std::string lower(word);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (lower == "true" || lower == "yes" || lower == "t") return true;
  if (lower == "false" || lower == "no" || lower == "f") return false;
  return std::nullopt;
}

std::string name_text(const std::string& name) {
  constexpr std::size_t kMost = 40;
  std::size_t shown = 0;
  while (shown < std::min(name.size(), kMost)) {
    shown += std::max<std::size_t>(utf8_length(std::string_view(name).substr(shown)), 1);
  }
  return name.substr(0, shown) + (shown < name.size() ? "..." : "");
}

std::string column_text(std::size_t column, const std::string& name) {
  return name.empty() ? std::to_string(column + 1) : fmt::format("{} ({})", column + 1, name_text(name));
}

void write_csv(const std::filesystem::path& path, const std::vector<std::vector<std::string>>& lines) {
  std::string text;
  for (const auto& line : lines) {
    for (std::size_t k = 0; k < line.size(); ++k) {
      if (k > 0) text += ',';
      text += quoted(line[k], line.size() == 1);
    }
    text += '\n';
  }
  write_file(path, std::as_bytes(std::span(text)));
}

}  // namespace ergodic
