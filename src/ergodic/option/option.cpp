#include "ergodic/option/option.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "ergodic/core/error.hpp"
#include "ergodic/core/number_text.hpp"
#include "ergodic/core/spelling.hpp"

namespace ergodic {
namespace {

constexpr std::string_view kAuto = "auto";

std::vector<std::string> names_of(const std::vector<Choice>& choices) {
  std::vector<std::string> out;
  for (const Choice& choice : choices) out.push_back(choice.name);
  return out;
}

/// A limit as people write it: whole numbers without an exponent.
std::string limit_text(const Option& option, double limit) {
  if (option.type == OptionType::kNumber || option.type == OptionType::kNumbers) return fmt::format("{}", limit);
  // The largest count is not a double; the nearest one is beyond it.
  return limit >= 0x1p64 ? std::to_string(~std::uint64_t{0}) : std::to_string(static_cast<std::uint64_t>(limit));
}

std::string expected(const Option& option) {
  const std::string or_auto = option.may_be_automatic ? " or auto" : "";
  const std::string limits = option.range ? fmt::format(" from {} to {}", limit_text(option, option.range->least),
                                                        limit_text(option, option.range->most))
                                          : "";
  switch (option.type) {
    case OptionType::kFlag:
      return "true or false";
    case OptionType::kCount:
      return "a whole number" + limits + or_auto;
    case OptionType::kNumber:
      return "a number" + limits + or_auto;
    case OptionType::kChoice:
      return fmt::format("one of {}", fmt::join(names_of(option.choices), ", "));
    case OptionType::kCounts:
      return fmt::format("whole numbers{} with commas between them", limits);
    case OptionType::kNumbers:
      return fmt::format("numbers{} with commas between them", limits);
    case OptionType::kPaths:
      return "one or more files";
    default:
      return "a text";
  }
}

[[noreturn]] void refuse(const Option& option, const std::string& found) {
  throw UsageError(fmt::format("{}: expected {}, found '{}'{}", option.written(), expected(option), found,
                               did_you_mean(found, names_of(option.choices))));
}

bool within(const Option& option, double number) {
  return !option.range || (number >= option.range->least && number <= option.range->most);
}

/// Whether the value is a list of these numbers, at least one, all of them allowed.
template <class T>
bool takes_list(const Option& option, const Value& value) {
  const auto* list = std::get_if<std::vector<T>>(&value);
  const auto fits = [&](T number) { return within(option, static_cast<double>(number)); };
  return list && !list->empty() && std::ranges::all_of(*list, fits);
}

/// Whether the value has the type of the option, and is allowed.
bool takes(const Option& option, const Value& value) {
  if (std::holds_alternative<Auto>(value)) return option.may_be_automatic;
  switch (option.type) {
    case OptionType::kFlag:
      return std::holds_alternative<bool>(value);
    case OptionType::kCount: {
      const auto* count = std::get_if<std::uint64_t>(&value);
      return count && within(option, static_cast<double>(*count));
    }
    case OptionType::kNumber: {
      const auto* number = std::get_if<double>(&value);
      return number && within(option, *number);
    }
    case OptionType::kChoice: {
      const auto* name = std::get_if<std::string>(&value);
      return name && std::ranges::any_of(option.choices, [&](const Choice& c) { return c.name == *name; });
    }
    case OptionType::kCounts:
      return takes_list<std::uint64_t>(option, value);
    case OptionType::kNumbers:
      return takes_list<double>(option, value);
    case OptionType::kPaths: {
      const auto* texts = std::get_if<Texts>(&value);
      return texts && std::ranges::none_of(*texts, [](const std::string& text) { return text.empty(); });
    }
    default:
      return std::holds_alternative<std::string>(value);
  }
}

template <class T>
std::optional<std::vector<T>> list_in(std::string_view text, std::optional<T> (*one)(std::string_view)) {
  std::vector<T> out;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const auto number = one(text.substr(0, comma));
    if (!number) return std::nullopt;
    out.push_back(*number);
    if (comma == text.size()) return out;
    text.remove_prefix(comma + 1);
  }
}

Texts lines_of(const std::string& text) {
  Texts out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

/// The text as a value of this type, or nothing.
std::optional<Value> read(OptionType type, const std::string& text) {
  const auto as_value = [](const auto& parsed) { return parsed ? std::optional<Value>(*parsed) : std::nullopt; };
  switch (type) {
    case OptionType::kFlag:
      if (text == "true" || text == "false") return text == "true";
      return std::nullopt;
    case OptionType::kCount:
      return as_value(whole_number_in(text));
    case OptionType::kNumber:
      return as_value(number_in<double>(text));
    case OptionType::kCounts:
      return as_value(list_in<std::uint64_t>(text, whole_number_in));
    case OptionType::kNumbers:
      return as_value(list_in<double>(text, number_in<double>));
    case OptionType::kPaths:
      return lines_of(text);
    default:
      return text;
  }
}

}  // namespace

std::string_view name_of(OptionType type) {
  constexpr std::string_view kNames[] = {"flag",   "count",  "number",  "text", "path",
                                         "choice", "counts", "numbers", "paths"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string_view name_of(PathRole role) {
  constexpr std::string_view kNames[] = {"", "input", "output", "folder"};
  return kNames[static_cast<std::size_t>(role)];
}

std::string Option::written() const {
  if (!positional) return "--" + name;
  std::string capitals;
  for (const char c : name) capitals += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return capitals;
}

std::string Option::default_text() const {
  if (is_flag()) return "";
  if (std::holds_alternative<Auto>(default_value)) return automatic;
  return text_of(default_value);
}

std::string Option::range_text() const {
  return range ? fmt::format("{} to {}", limit_text(*this, range->least), limit_text(*this, range->most)) : "";
}

std::string text_of(const Value& value) {
  struct {
    std::string operator()(Auto) const { return std::string(kAuto); }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::uint64_t count) const { return std::to_string(count); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const Counts& counts) const { return fmt::format("{}", fmt::join(counts, ",")); }
    std::string operator()(const Numbers& numbers) const { return fmt::format("{}", fmt::join(numbers, ",")); }
    std::string operator()(const Texts& texts) const { return fmt::format("{}", fmt::join(texts, "\n")); }
  } writer;
  return std::visit(writer, value);
}

Value parse_value(const Option& option, const std::string& text) {
  if (option.may_be_automatic && text == kAuto) return Auto{};
  const std::optional<Value> value = read(option.type, text);
  if (!value || !takes(option, *value)) refuse(option, text);
  return *value;
}

void check_value(const Option& option, const Value& value) {
  if (!takes(option, value)) refuse(option, text_of(value));
}

}  // namespace ergodic
