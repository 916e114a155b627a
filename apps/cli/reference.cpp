#include "reference.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ergodic::cli {
namespace {

std::string value_text(const Option& option) {
  if (!option.choices.empty()) return fmt::format("{}", fmt::join(option.choices, ", "));
  return option.placeholder;
}

}  // namespace

std::string reference_page(const std::vector<Command>& commands) {
  std::string out;
  for (const Command& command : commands) {
    out += fmt::format("### ergodic {}\n\n{}. Example:\n\n    {}\n\n", command.name, command.summary, command.example);
    out += "| option | takes | default | meaning |\n|---|---|---|---|\n";
    for (const Option& option : command.spec.options()) {
      out += fmt::format("| `{}` | {} | {} | {} |\n", option.written(), value_text(option),
                         option.required ? "required" : option.standard, option.help);
    }
    out += "\n";
  }
  return out;
}

}  // namespace ergodic::cli
