// Spec: each option of a command declared once (name, type, range, default, help). The command line, its help, the
// config file, the shell completion and the reference page are all made from it.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ergodic/core/error.hpp"

namespace ergodic {

/// The names of an enum's values; specialise with `static constexpr std::array<std::pair<E, std::string_view>, N>
/// kAll`.
template <class E>
struct Names;

/// The name of a value.
template <class E>
requires requires { Names<E>::kAll; }
std::string_view name_of(E value) {
  std::size_t k = 0;
  while (Names<E>::kAll[k].first != value) ++k;
  return Names<E>::kAll[k].second;
}

/// One option, bound to the field that it sets.
struct Option {
  std::string name;
  std::string group;
  std::string help;
  std::string placeholder;           ///< what stands for the value in help: N, X, FILE, TEXT; empty for a flag
  std::vector<std::string> choices;  ///< the only values allowed, if any
  std::string standard;              ///< the default, as text
  bool positional = false;
  bool required = false;
  bool shapes_result = true;  ///< false for what only says where to write or how to run
  /// Sets the field from text; UsageError naming the option if the text will not do.
  std::function<void(const std::string&)> set;
  std::function<std::string()> get;

  bool is_flag() const { return placeholder.empty() && choices.empty(); }
  std::string written() const;  ///< as it stands in messages: --name, or NAME if it has no dashes
};

class Spec {
 public:
  /// Options added from here on belong to this group.
  Spec& group(std::string title);

  Spec& text(std::string name, std::string& target, std::string help, std::string placeholder = "TEXT");
  Spec& path(std::string name, std::filesystem::path& target, std::string help);
  Spec& flag(std::string name, bool& target, std::string help);
  Spec& count(std::string name, std::uint64_t& target, std::uint64_t lowest, std::uint64_t highest, std::string help);
  Spec& number(std::string name, double& target, double lowest, double highest, std::string help);

  template <class E>
  Spec& choice(const std::string& name, E& target, const std::string& help) {
    std::vector<std::string> names;
    for (const auto& [value, text] : Names<E>::kAll) names.emplace_back(text);
    return choice_of(
        name, help, names, [&target](std::size_t k) { target = Names<E>::kAll[k].first; },
        [&target] {
          std::size_t k = 0;
          while (Names<E>::kAll[k].first != target) ++k;
          return k;
        });
  }

  // Marks on the option added last.
  Spec& required();
  Spec& positional();
  Spec& incidental();  ///< does not shape the result

  const std::vector<Option>& options() const { return options_; }
  const Option* find(std::string_view name) const;

  /// Sets options by name: the config file's values first, then those of the command line; then checks that nothing
  /// required is missing.
  void apply(const std::map<std::string, std::string>& config, const std::map<std::string, std::string>& given) const;

  /// Name and value of every option that shapes the result, for checkpoints.
  std::map<std::string, std::string> settings() const;

 private:
  Option& add(std::string name, std::string help, std::string placeholder);
  Spec& choice_of(const std::string& name, const std::string& help, const std::vector<std::string>& names,
                  const std::function<void(std::size_t)>& set, const std::function<std::size_t()>& get);

  std::vector<Option> options_;
  std::string group_;
};

/// The values in a config file: lines `name = value`, with # comments. DataError naming the line if one is not.
std::map<std::string, std::string> read_config(const std::filesystem::path& path);

}  // namespace ergodic
