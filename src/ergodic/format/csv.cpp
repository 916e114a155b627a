#include "ergodic/format/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "ergodic/core/error.hpp"
#include "ergodic/format/bytes.hpp"
#include "ergodic/format/file.hpp"

namespace ergodic {
namespace {

constexpr std::string_view kBlanks = " \t";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

/// Gives the lines that count, one after the other: without blank lines and comments, without their line ends.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // what spreadsheets put before UTF-8
    if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
  }

  bool next() {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      line_ = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++number_;
      if (line_.ends_with('\r')) line_.remove_suffix(1);
      const std::string_view content = trimmed(line_);
      if (!content.empty() && content.front() != '#') return true;
    }
    return false;
  }

  std::string_view line() const { return line_; }
  std::size_t number() const { return number_; }  ///< counted from 1

 private:
  std::string_view rest_;
  std::string_view line_;
  std::size_t number_ = 0;
};

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

/// The ways to write that a value is missing, beside nan.
bool stands_for_missing(std::string_view field) { return field.empty() || field == "NA" || field == "?"; }

class TableParser {
 public:
  TableParser(std::string_view text, const std::string& where, Missing missing)
      : lines_(text), where_(where), missing_(missing) {}

  Array parse() {
    if (!lines_.next())
      throw DataError(fmt::format("{}: expected rows of numbers, found no line with content", where_));
    separator_ = separator_of(lines_.line());
    split();
    columns_ = fields_.size();
    if (!is_header()) add_row();
    while (lines_.next()) {
      split();
      add_row();
    }
    if (rows_ == 0) {
      fail(fmt::format("expected rows of numbers after the header {}, found the end of the file",
                       excerpt(lines_.line())));
    }
    return {ElementType::kFloat64, {rows_, columns_}, std::move(bytes_)};
  }

 private:
  /// Cuts the line into fields_, trimmed and without their quotes. Runs of blanks separate once.
  void split() {
    fields_.clear();
    std::string_view rest = separator_ == ' ' ? trimmed(lines_.line()) : lines_.line();
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
    field = trimmed(field);
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"') {
      field = trimmed(field.substr(1, field.size() - 2));
    }
    fields_.push_back(field);
  }

  static std::errc parse_number(std::string_view field, double& value) {
    if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);  // from_chars takes no plus
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    return end == field.data() + field.size() ? error : std::errc::invalid_argument;
  }

  /// A line without a number; a row whose values are all missing is none.
  bool is_header() const {
    if (missing_ == Missing::kAllowed && std::all_of(fields_.begin(), fields_.end(), stands_for_missing)) return false;
    return std::none_of(fields_.begin(), fields_.end(), [](std::string_view field) {
      double ignored = 0.0;
      return parse_number(field, ignored) != std::errc::invalid_argument;
    });
  }

  void add_row() {
    if (fields_.size() != columns_) {
      fail(fmt::format("expected {} fields as in the first line, found {}", columns_, fields_.size()));
    }
    for (std::size_t column = 0; column < columns_; ++column) add_number(fields_[column], column + 1);
    ++rows_;
  }

  void add_number(std::string_view field, std::size_t column) {
    double value = std::numeric_limits<double>::quiet_NaN();
    const bool absent = missing_ == Missing::kAllowed && stands_for_missing(field);
    const std::errc error = absent ? std::errc() : parse_number(field, value);
    if (error == std::errc()) {
      append_integer(bytes_, std::bit_cast<std::uint64_t>(value));
    } else if (stands_for_missing(field)) {
      fail(fmt::format("column {}: expected a number, found {}; fill in or remove missing values, or say --missing",
                       column, field.empty() ? "an empty field" : excerpt(field)));
    } else if (error == std::errc::result_out_of_range) {
      fail(fmt::format("column {}: {} is out of the range of a 64-bit float", column, excerpt(field)));
    } else {
      fail(fmt::format("column {}: expected a number such as 0.5, found {}", column, excerpt(field)));
    }
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw DataError(fmt::format("{}: line {}: {}", where_, lines_.number(), problem));
  }

  Lines lines_;
  const std::string& where_;
  Missing missing_;
  char separator_ = ' ';
  std::vector<std::string_view> fields_;
  std::size_t columns_ = 0;
  std::size_t rows_ = 0;
  std::vector<std::byte> bytes_;
};

/// A field as it stands in a file.
std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\n\r") == std::string::npos) return field;
  std::string out = "\"";
  for (const char c : field) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

}  // namespace

Array parse_csv(std::span<const std::byte> file, const std::string& where, Missing missing) {
  return TableParser(as_text(file), where, missing).parse();
}

void write_csv(const std::filesystem::path& path, const std::vector<std::vector<std::string>>& lines) {
  std::string text;
  for (const auto& line : lines) {
    for (std::size_t k = 0; k < line.size(); ++k) {
      if (k > 0) text += ',';
      text += quoted(line[k]);
    }
    text += '\n';
  }
  write_file(path, std::as_bytes(std::span(text)));
}

}  // namespace ergodic
