#include "ergodic/format/fasta.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "ergodic/core/error.hpp"
#include "ergodic/format/bytes.hpp"
#include "ergodic/format/file.hpp"

namespace ergodic {
namespace {

constexpr std::string_view kBlanks = " \t";

bool is_letter(char c) { return c > ' ' && c <= '~'; }

/// Names may be in any language: bytes from 0x80 up are let through, control bytes are not.
bool is_name_byte(char c) {
  const auto code = static_cast<unsigned char>(c);
  return c == '\t' || (code >= 0x20 && code != 0x7f);
}

class FastaParser {
 public:
  FastaParser(std::string_view text, const std::string& where) : lines_(text), where_(where) {}

  std::vector<NamedSequence> parse() {
    while (lines_.next()) {
      line_ = lines_.line().substr(0, lines_.line().find_last_not_of(kBlanks) + 1);
      if (line_.empty()) continue;
      line_.front() == '>' ? begin_sequence() : add_letters();
    }
    if (sequences_.empty()) {
      throw DataError(fmt::format("{}: expected sequences under \">name\" lines, found no line with content", where_));
    }
    require_letters();
    return std::move(sequences_);
  }

 private:
  void begin_sequence() {
    if (!sequences_.empty()) require_letters();
    for (std::size_t i = 0; i < line_.size(); ++i) {
      if (!is_name_byte(line_[i])) fail_at_column(i, "expected text in a header line");
    }
    const std::size_t begin = std::min(line_.find_first_not_of(kBlanks, 1), line_.size());
    sequences_.push_back({std::string(line_.substr(begin)), ""});
    header_ = lines_.number();
  }

  void add_letters() {
    if (sequences_.empty()) {
      fail(lines_.number(),
           fmt::format("expected a header line such as \">name\" before all else, found {}", excerpt(line_)));
    }
    for (std::size_t i = 0; i < line_.size(); ++i) {
      if (!is_letter(line_[i])) fail_at_column(i, "expected a letter of the sequence");
    }
    sequences_.back().letters += line_;
  }

  /// A header must have been followed by something.
  void require_letters() const {
    if (sequences_.back().letters.empty()) {
      fail(header_,
           fmt::format("expected a sequence under the header {}, found none", excerpt(sequences_.back().name)));
    }
  }

  [[noreturn]] void fail_at_column(std::size_t index, std::string_view expected) const {
    fail(lines_.number(), fmt::format("column {}: {}, found {}", index + 1, expected, excerpt(line_.substr(index, 1))));
  }

  [[noreturn]] void fail(std::size_t line, const std::string& problem) const {
    throw DataError(fmt::format("{}: line {}: {}", where_, line, problem));
  }

  TextLines lines_;
  const std::string& where_;
  std::string_view line_;   // without blanks at its end
  std::size_t header_ = 0;  // number of the last header's line
  std::vector<NamedSequence> sequences_;
};

}  // namespace

std::vector<NamedSequence> parse_fasta(std::span<const std::byte> file, const std::string& where) {
  return FastaParser(as_text(file), where).parse();
}

void write_fasta(const std::filesystem::path& path, std::span<const NamedSequence> sequences) {
  std::string text;
  for (const auto& [name, letters] : sequences) text += fmt::format(">{}\n{}\n", name, letters);
  write_file(path, std::as_bytes(std::span(text)));
}

}  // namespace ergodic
