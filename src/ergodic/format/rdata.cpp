#include "ergodic/format/rdata.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "ergodic/core/error.hpp"
#include "ergodic/core/number_text.hpp"
#include "ergodic/format/bytes.hpp"
#include "ergodic/format/rdata_objects.hpp"
#include "ergodic/format/utf8.hpp"

namespace ergodic {
namespace {

using namespace std::string_view_literals;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool has_class(const RFile& file, const RObject& object, std::string_view name) {
  const RObject* classes = object.attribute("class");
  return classes &&
         std::ranges::any_of(classes->texts, [&](std::uint32_t t) { return t != kNaText && file.texts[t] == name; });
}

/// The only data frame of a file.
const RObject& only_frame(const RFile& file, const std::string& where) {
  std::vector<const RObject*> frames;
  for (const auto& [name, object] : file.objects) {
    if (object.type == RType::kList && has_class(file, object, "data.frame")) frames.push_back(&object);
  }
  if (frames.size() == 1) return *frames[0];
  throw DataError(fmt::format("{}: expected a data frame of R, found {} in {} object{}; save one alone{}", where,
                              frames.empty() ? "none" : std::to_string(frames.size()), file.objects.size(),
                              file.objects.size() == 1 ? "" : "s",
                              frames.empty() ? ", made by as.data.frame if it is a matrix" : ""));
}

/// Makes a table of a data frame, column by column.
class Framer {
 public:
  Framer(const RFile& file, const RObject& frame, const std::string& where, Missing missing)
      : file_(file), frame_(frame), where_(where), missing_(missing) {}

  CsvTable table() {
    const std::size_t columns = frame_.members.size();
    if (columns == 0 || columns > kMostCsvColumns) {
      throw DataError(
          fmt::format("{}: expected a data frame of 1 to {} columns, found {}", where_, kMostCsvColumns, columns));
    }
    out_.columns.resize(columns);
    read_names();
    out_.rows = rows_of(frame_.members[0]);
    if (out_.rows == 0) throw DataError(fmt::format("{}: expected rows, found a data frame without any", where_));
    for (std::size_t c = 0; c < columns; ++c) {
      const std::size_t rows = rows_of(frame_.members[c]);
      if (rows == out_.rows || !problem_of(frame_.members[c]).empty()) continue;
      throw DataError(fmt::format("{}: column {}: expected {} rows as in the first column, found {}", where_,
                                  column_text(c, out_.columns[c].name), out_.rows, rows));
    }
    out_.numbers.assign(out_.rows * columns, kNan);
    for (std::size_t c = 0; c < columns; ++c) read_column(c);
    return std::move(out_);
  }

 private:
  static std::size_t rows_of(const RObject& column) {
    return column.type == RType::kStrings ? column.texts.size() : column.numbers.size();
  }

  void read_names() {
    const RObject* names = frame_.attribute("names");
    out_.header = names && names->texts.size() == out_.columns.size();
    for (std::size_t c = 0; out_.header && c < out_.columns.size(); ++c) {
      const std::uint32_t text = names->texts[c];
      out_.columns[c].name = text == kNaText ? "NA" : printable(file_.texts[text]);
    }
  }

  const std::string& printable(const std::string& text) const {
    if (!has_control_characters(text)) return text;
    throw DataError(fmt::format("{}: expected text, found {}", where_, excerpt(text)));
  }

  /// Why a column cannot be read; empty if it can.
  std::string problem_of(const RObject& column) const {
    const bool vector = column.type == RType::kLogical || column.type == RType::kInteger ||
                        column.type == RType::kReal || column.type == RType::kStrings;
    if (!vector || column.attribute("dim")) return "expected numbers or words, found a list or a matrix of R";
    const RObject* classes = column.attribute("class");
    if (!classes || has_class(file_, column, "factor")) return "";
    const bool named = !classes->texts.empty() && classes->texts.back() != kNaText;
    return fmt::format("expected numbers or words, found R's class {}; turn it into one of them",
                       excerpt(named ? file_.texts[classes->texts.back()] : ""));
  }

  void read_column(std::size_t c) {
    const RObject& column = frame_.members[c];
    if (const std::string problem = problem_of(column); !problem.empty()) {
      out_.columns[c].problem = fmt::format("column {}: {}", column_text(c, out_.columns[c].name), problem);
      return;
    }
    if (column.type == RType::kStrings) return read_words(c, column.texts);
    if (has_class(file_, column, "factor")) return read_words(c, words_of_factor(c, column));
    for (std::size_t r = 0; r < out_.rows; ++r) put(c, r, column.numbers[r]);
  }

  /// The texts of a factor, whose numbers are places among its levels, counted from 1.
  std::vector<std::uint32_t> words_of_factor(std::size_t c, const RObject& factor) const {
    const RObject* levels = factor.attribute("levels");
    const std::size_t count = levels ? levels->texts.size() : 0;
    std::vector<std::uint32_t> out;
    for (const double place : factor.numbers) {
      if (!std::isnan(place) && !(place >= 1.0 && place <= static_cast<double>(count) && place == std::floor(place))) {
        throw DataError(fmt::format("{}: row {}, column {}: expected one of {} levels of a factor, found {}", where_,
                                    out.size() + 1, column_text(c, out_.columns[c].name), count, place));
      }
      out.push_back(std::isnan(place) ? kNaText : levels->texts[static_cast<std::size_t>(place) - 1]);
    }
    return out;
  }

  /// Words as csv has them: numbers if every one is a number, else places among them in alphabetical order.
  void read_words(std::size_t c, std::span<const std::uint32_t> texts) {
    std::map<std::string_view, double> words;  // those that are there
    bool numbers = true;
    for (const std::uint32_t text : texts) {
      if (text == kNaText || stands_for_missing(file_.texts[text])) continue;
      const auto [at, fresh] = words.try_emplace(file_.texts[text], 0.0);
      if (!fresh) continue;
      const std::optional<double> number = number_in<double>(printable(file_.texts[text]));
      numbers = numbers && number;
      at->second = number.value_or(0.0);
    }
    if (!numbers) {
      out_.columns[c].line = 1;
      for (auto& [word, place] : words) {
        place = static_cast<double>(out_.columns[c].words.size());
        out_.columns[c].words.emplace_back(word);
      }
    }
    for (std::size_t r = 0; r < texts.size(); ++r) {
      const auto found = texts[r] == kNaText ? words.end() : words.find(file_.texts[texts[r]]);
      put(c, r, found == words.end() ? kNan : found->second);
    }
  }

  void put(std::size_t c, std::size_t r, double number) {
    CsvColumn& column = out_.columns[c];
    out_.numbers[r * out_.columns.size() + c] = number;
    if (!std::isnan(number) || missing_ == Missing::kAllowed || !column.problem.empty()) return;
    column.problem = fmt::format(
        "row {}: column {}: expected a {}, found NA; fill in or remove missing values, or say --missing if the command "
        "takes it",
        r + 1, column_text(c, column.name), column.words.empty() ? "number" : "word");
  }

  const RFile& file_;
  const RObject& frame_;
  const std::string& where_;
  Missing missing_;
  CsvTable out_;
};

}  // namespace

bool is_rdata(std::string_view start) {
  return start.starts_with("RDX2"sv) || start.starts_with("RDX3"sv) || start.starts_with("X\n\0\0"sv);
}

CsvTable parse_rdata(std::span<const std::byte> file, const std::string& where, Missing missing) {
  const RFile objects = parse_r_objects(file, where);
  return Framer(objects, only_frame(objects, where), where, missing).table();
}

}  // namespace ergodic
