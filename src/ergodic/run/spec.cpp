#include "ergodic/run/spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>

#include "ergodic/format/file.hpp"

namespace ergodic {
namespace {

/// Parses all of a text as a number, or nothing.
template <class T>
bool parse(const std::string& text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

}  // namespace

std::string Option::written() const {
  if (!positional) return "--" + name;
  std::string capitals;
  for (const char c : name) capitals += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return capitals;
}

Spec& Spec::group(std::string title) {
  group_ = std::move(title);
  return *this;
}

Option& Spec::add(std::string name, std::string help, std::string placeholder) {
  Option option;
  option.name = std::move(name);
  option.group = group_;
  option.help = std::move(help);
  option.placeholder = std::move(placeholder);
  options_.push_back(std::move(option));
  return options_.back();
}

Spec& Spec::text(std::string name, std::string& target, std::string help, std::string placeholder) {
  Option& option = add(std::move(name), std::move(help), std::move(placeholder));
  option.set = [&target](const std::string& value) { target = value; };
  option.get = [&target] { return target; };
  option.standard = target;
  return *this;
}

Spec& Spec::path(std::string name, std::filesystem::path& target, std::string help) {
  Option& option = add(std::move(name), std::move(help), "FILE");
  option.set = [&target](const std::string& value) { target = value; };
  option.get = [&target] { return target.string(); };
  option.standard = target.string();
  return *this;
}

Spec& Spec::flag(std::string name, bool& target, std::string help) {
  Option& option = add(std::move(name), std::move(help), "");
  option.set = [&target, name = option.name](const std::string& value) {
    require(value == "true" || value == "false", fmt::format("--{}: expected true or false, found '{}'", name, value));
    target = value == "true";
  };
  option.get = [&target] { return target ? "true" : "false"; };
  return *this;
}

Spec& Spec::count(std::string name, std::uint64_t& target, std::uint64_t lowest, std::uint64_t highest,
                  std::string help) {
  Option& option = add(std::move(name), std::move(help), "N");
  option.set = [&target, lowest, highest, name = option.name](const std::string& value) {
    std::uint64_t parsed = 0;
    require(parse(value, parsed) && parsed >= lowest && parsed <= highest,
            fmt::format("--{}: expected a whole number from {} to {}, found '{}'", name, lowest, highest, value));
    target = parsed;
  };
  option.get = [&target] { return std::to_string(target); };
  option.standard = option.get();
  return *this;
}

Spec& Spec::number(std::string name, double& target, double lowest, double highest, std::string help) {
  Option& option = add(std::move(name), std::move(help), "X");
  option.set = [&target, lowest, highest, name = option.name](const std::string& value) {
    double parsed = 0.0;
    require(parse(value, parsed) && parsed >= lowest && parsed <= highest,
            fmt::format("--{}: expected a number from {} to {}, found '{}'", name, lowest, highest, value));
    target = parsed;
  };
  option.get = [&target] { return fmt::format("{}", target); };
  option.standard = option.get();
  return *this;
}

Spec& Spec::choice_of(const std::string& name, const std::string& help, const std::vector<std::string>& names,
                      const std::function<void(std::size_t)>& set, const std::function<std::size_t()>& get) {
  Option& option = add(name, help, "");
  option.choices = names;
  option.set = [set, names, name = option.name](const std::string& value) {
    const auto found = std::find(names.begin(), names.end(), value);
    require(found != names.end(),
            fmt::format("--{}: expected one of {}, found '{}'", name, fmt::join(names, ", "), value));
    set(static_cast<std::size_t>(found - names.begin()));
  };
  option.get = [get, names] { return names[get()]; };
  option.standard = option.get();
  return *this;
}

Spec& Spec::required() {
  options_.back().required = true;
  return *this;
}

Spec& Spec::positional() {
  options_.back().positional = true;
  return *this;
}

Spec& Spec::incidental() {
  options_.back().shapes_result = false;
  return *this;
}

const Option* Spec::find(std::string_view name) const {
  for (const Option& option : options_) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

void Spec::apply(const std::map<std::string, std::string>& config,
                 const std::map<std::string, std::string>& given) const {
  for (const auto* values : {&config, &given}) {
    for (const auto& [name, value] : *values) {
      const Option* option = find(name);
      require(option != nullptr, fmt::format("unknown option '{}'", name));
      option->set(value);
    }
  }
  for (const Option& option : options_) {
    require(!option.required || !option.get().empty(),
            fmt::format("{} is required; --help shows what it takes", option.written()));
  }
}

std::map<std::string, std::string> Spec::settings() const {
  std::map<std::string, std::string> out;
  for (const Option& option : options_) {
    if (option.shapes_result) out[option.name] = option.get();
  }
  return out;
}

std::map<std::string, std::string> read_config(const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = read_file(path);
  std::istringstream file(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  std::map<std::string, std::string> out;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    const std::string content = trimmed(std::string_view(line).substr(0, line.find('#')));
    if (content.empty()) continue;
    const auto equals = content.find('=');
    const std::string name = trimmed(std::string_view(content).substr(0, equals));
    if (equals == std::string::npos || name.empty()) {
      throw DataError(fmt::format("{}: line {}: expected name = value, found '{}'", path.string(), number, content));
    }
    if (!out.emplace(name, trimmed(std::string_view(content).substr(equals + 1))).second) {
      throw DataError(fmt::format("{}: line {}: '{}' stands twice", path.string(), number, name));
    }
  }
  return out;
}

}  // namespace ergodic
