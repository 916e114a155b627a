// Option: everything about one option of a command, as data. The command line, its help, the config file, the shell
// completion, the reference page and its JSON are made from it, and so can a Python signature or a web form be.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ergodic {

/// The value of an option that is left to the program, which chooses by the machine or by the data.
struct Auto {
  bool operator==(const Auto&) const = default;
};

using Counts = std::vector<std::uint64_t>;
using Numbers = std::vector<double>;
using Texts = std::vector<std::string>;
using Value = std::variant<Auto, bool, std::uint64_t, double, std::string, Counts, Numbers, Texts>;
/// Values of options, by name.
using Settings = std::map<std::string, Value>;

enum class OptionType { kFlag, kCount, kNumber, kText, kPath, kChoice, kCounts, kNumbers, kPaths };
std::string_view name_of(OptionType type);

/// What a path is for.
enum class PathRole { kNone, kInput, kOutput, kFolder };
std::string_view name_of(PathRole role);

/// One of the values that an option takes, and what it means.
struct Choice {
  std::string name;
  std::string help;
};

/// The least and the largest number; of a list, of each of them.
struct Range {
  double least = 0.0;
  double most = 0.0;
};

struct Option {
  std::string name;
  std::string group;
  std::string help;
  OptionType type = OptionType::kText;
  std::string placeholder;  ///< what stands for the value in help: N, X, FILE, TEXT
  Value default_value;
  bool may_be_automatic = false;  ///< takes `auto`
  std::string automatic;          ///< what `auto` means, in words
  std::optional<Range> range;
  std::vector<Choice> choices;  ///< the only values allowed, if any
  PathRole role = PathRole::kNone;
  std::vector<std::string> kinds;  ///< kinds of machine that it belongs to; empty: all
  bool positional = false;
  bool required = false;
  bool advanced = false;      ///< seldom needed
  bool shapes_result = true;  ///< false for what only says where to write or how to run

  bool is_flag() const { return type == OptionType::kFlag; }
  /// Whether it takes any number of words.
  bool is_many() const { return type == OptionType::kPaths; }
  /// As it stands in messages: --name, or NAME if it has no dashes.
  std::string written() const;
  /// The default for help: empty if there is none.
  std::string default_text() const;
  /// "1 to 1000", or empty.
  std::string range_text() const;
};

/// As the command line and config files have it. A list is numbers with commas, or a path on each line.
std::string text_of(const Value& value);

/// The value that a text gives an option. UsageError naming the option if the text will not do.
Value parse_value(const Option& option, const std::string& text);

/// UsageError naming the option if it does not take this value: the wrong type, out of range, no choice of its own.
void check_value(const Option& option, const Value& value);

}  // namespace ergodic
