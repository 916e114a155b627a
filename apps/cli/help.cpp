#include "help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

namespace ergodic::cli {
namespace {

constexpr std::size_t kNameColumns = 28;  // of names and what they take
constexpr std::size_t kTextColumns = 72;  // of what they mean

/// Text broken into lines at blanks.
std::vector<std::string> wrapped(const std::string& text, std::size_t columns) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > columns) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

/// A name and, in the column beside it, lines of text; a long name has a line of its own.
std::string entry(const std::string& name, const std::vector<std::string>& lines) {
  std::string out = fmt::format("  {:<{}}", name, kNameColumns - 2);
  const bool beside = name.size() + 4 <= kNameColumns;
  if (!beside) out = fmt::format("  {}\n{:<{}}", name, "", kNameColumns);
  return out + fmt::format("{}\n", fmt::join(lines, "\n" + std::string(kNameColumns, ' ')));
}

std::string value_of(const Option& option) {
  std::vector<std::string> names;
  for (const Choice& choice : option.choices) names.push_back(choice.name);
  return names.empty() ? option.placeholder : fmt::format("{}", fmt::join(names, "|"));
}

/// As one types it: --out FILE, or MODEL.
std::string typed(const Option& option) {
  if (option.positional) return option.written() + (option.is_many() ? "..." : "");
  return option.is_flag() ? option.written() : option.written() + " " + value_of(option);
}

/// What it means, its range, its default, and a line for each choice.
std::string entry_of(const Option& option) {
  std::vector<std::string> remarks;
  if (const std::string range = option.range_text(); !range.empty()) remarks.push_back(range);
  if (option.required) remarks.emplace_back("required");
  if (const std::string text = option.default_text(); !option.required && !text.empty()) {
    remarks.push_back("default " + text);
  }
  std::vector<std::string> lines = wrapped(
      remarks.empty() ? option.help : fmt::format("{} ({})", option.help, fmt::join(remarks, "; ")), kTextColumns);
  for (const Choice& choice : option.choices) {
    if (choice.help.empty()) continue;
    for (const std::string& line : wrapped(fmt::format("- {}: {}", choice.name, choice.help), kTextColumns - 2)) {
      lines.push_back(line.starts_with("- ") ? line : "  " + line);
    }
  }
  return entry(typed(option), lines);
}

/// The groups as they come, but those of one subject, such as "Machine" and "Machine (rbm)", together.
std::vector<std::string> groups_of(const std::vector<Option>& options) {
  const auto subject = [](const std::string& group) { return group.substr(0, group.find(" (")); };
  std::vector<std::string> groups;
  for (const Option& option : options) {
    if (std::ranges::find(groups, option.group) != groups.end()) continue;
    const auto same = [&](const std::string& group) { return subject(group) == subject(option.group); };
    const auto last = std::ranges::find_if(groups.rbegin(), groups.rend(), same);
    groups.insert(last == groups.rend() ? groups.end() : last.base(), option.group);
  }
  return groups;
}

std::string sections(const std::vector<Option>& options, bool advanced) {
  std::string out;
  for (const std::string& group : groups_of(options)) {
    std::string entries;
    for (const Option& option : options) {
      if (option.group == group && option.advanced == advanced) entries += entry_of(option);
    }
    const std::string title = group.empty() ? "Arguments" : group;
    if (!entries.empty()) out += fmt::format("\n{}{}:\n{}", title, advanced ? ", advanced" : "", entries);
  }
  return out;
}

std::string usage_of(const Command& command, const std::vector<Option>& options) {
  std::string out = "Usage: ergodic " + command.name;
  for (const bool positional : {true, false}) {
    for (const Option& option : options) {
      if (option.required && option.positional == positional) out += fmt::format(" {}", typed(option));
    }
  }
  return out + " [options]\n";
}

}  // namespace

std::string help_of_all(std::span<const Command> commands, std::string_view first) {
  std::string list;
  for (const Command& command : commands) {
    const bool shown = first.empty() || command.name.starts_with(std::string(first) + " ");
    if (shown) list += entry(command.name, wrapped(command.summary, kTextColumns));
  }
  if (!first.empty()) {
    return fmt::format(
        "Usage: ergodic {} COMMAND [options]\n\nCommands:\n{}\n`ergodic {} COMMAND --help` explains one.\n", first,
        list, first);
  }
  return "Ergodic: energy-based models, from Hopfield networks to Boltzmann machines.\n\n"
         "Usage: ergodic COMMAND [options]\n\nCommands:\n" +
         list + "\nOptions:\n" + entry("-h, --help", {"print this help"}) + entry("--version", {"print the version"}) +
         "\nStart with:\n  ergodic data get mnist\n  ergodic train --data mnist --out m.safetensors\n\n"
         "`ergodic help COMMAND` explains a command, `ergodic help train --model KIND` a kind of machine.\n";
}

std::string help_of(const Command& command, const std::vector<Option>& options) {
  std::string out = usage_of(command, options) + "\n" + command.summary + "\n" + sections(options, false);
  out += (options.empty() ? "\nOptions:\n" : "") + entry("-h, --help", {"print this help"}) + sections(options, true);
  return out + (command.example.empty() ? "" : "\nExample:\n  " + command.example + "\n");
}

}  // namespace ergodic::cli
