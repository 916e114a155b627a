// Spec: the options of a command or a part of one, each declared once and bound to the field of a struct that it sets.
//
//   Spec<SampleOptions> spec;
//   spec.group("Sampling").add("count", &SampleOptions::count, "how many samples").range(1, 1000000);
//
// The type of an option is that of its field: bool is a flag, a std::optional may be left to the program (auto), an
// enum has the choices of its Names. A field is named by a pointer to a member or by a function that returns a
// reference.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ergodic/core/error.hpp"
#include "ergodic/option/option.hpp"

namespace ergodic {

/// An enum's value, its name, and what it means.
template <class E>
struct Named {
  E value;
  std::string_view name, help;
};

/// The names of an enum's values; specialise with `static constexpr std::array<Named<E>, N> kAll`.
template <class E>
struct Names;

template <class E>
concept NamedEnum = requires {
  Names<E>::kAll;
};

template <NamedEnum E>
std::string_view name_of(E value) {
  std::size_t k = 0;
  while (Names<E>::kAll[k].value != value) ++k;
  return Names<E>::kAll[k].name;
}

/// How fields of a type are options: their type, and values in both directions.
template <class T>
struct FieldOption;

template <>
struct FieldOption<bool> {
  static constexpr OptionType kType = OptionType::kFlag;
  static constexpr std::string_view kPlaceholder = "";
  static Value get(bool field) { return field; }
  static void set(bool& field, const Value& value) { field = std::get<bool>(value); }
};
template <>
struct FieldOption<std::uint64_t> {
  static constexpr OptionType kType = OptionType::kCount;
  static constexpr std::string_view kPlaceholder = "N";
  static Value get(std::uint64_t field) { return field; }
  static void set(std::uint64_t& field, const Value& value) { field = std::get<std::uint64_t>(value); }
};
template <>
struct FieldOption<double> {
  static constexpr OptionType kType = OptionType::kNumber;
  static constexpr std::string_view kPlaceholder = "X";
  static Value get(double field) { return field; }
  static void set(double& field, const Value& value) { field = std::get<double>(value); }
};
template <>
struct FieldOption<std::string> {
  static constexpr OptionType kType = OptionType::kText;
  static constexpr std::string_view kPlaceholder = "TEXT";
  static Value get(const std::string& field) { return field; }
  static void set(std::string& field, const Value& value) { field = std::get<std::string>(value); }
};
template <>
struct FieldOption<std::filesystem::path> {
  static constexpr OptionType kType = OptionType::kPath;
  static constexpr std::string_view kPlaceholder = "FILE";
  static Value get(const std::filesystem::path& field) { return field.string(); }
  static void set(std::filesystem::path& field, const Value& value) { field = std::get<std::string>(value); }
};
template <>
struct FieldOption<Counts> {
  static constexpr OptionType kType = OptionType::kCounts;
  static constexpr std::string_view kPlaceholder = "N,N,...";
  static Value get(const Counts& field) { return field; }
  static void set(Counts& field, const Value& value) { field = std::get<Counts>(value); }
};
template <>
struct FieldOption<Numbers> {
  static constexpr OptionType kType = OptionType::kNumbers;
  static constexpr std::string_view kPlaceholder = "X,X,...";
  static Value get(const Numbers& field) { return field; }
  static void set(Numbers& field, const Value& value) { field = std::get<Numbers>(value); }
};
template <>
struct FieldOption<std::vector<std::filesystem::path>> {
  static constexpr OptionType kType = OptionType::kPaths;
  static constexpr std::string_view kPlaceholder = "FILE...";
  static Value get(const std::vector<std::filesystem::path>& field) {
    Texts out;
    for (const std::filesystem::path& path : field) out.push_back(path.string());
    return out;
  }
  static void set(std::vector<std::filesystem::path>& field, const Value& value) {
    const Texts& texts = std::get<Texts>(value);
    field.assign(texts.begin(), texts.end());
  }
};
template <NamedEnum E>
struct FieldOption<E> {
  static constexpr OptionType kType = OptionType::kChoice;
  static constexpr std::string_view kPlaceholder = "";
  static Value get(E field) { return std::string(name_of(field)); }
  static void set(E& field, const Value& value) {
    for (const Named<E>& named : Names<E>::kAll) {
      if (named.name == std::get<std::string>(value)) field = named.value;
    }
  }
};
template <class T>
struct FieldOption<std::optional<T>> {
  static constexpr OptionType kType = FieldOption<T>::kType;
  static constexpr std::string_view kPlaceholder = FieldOption<T>::kPlaceholder;
  static Value get(const std::optional<T>& field) { return field ? FieldOption<T>::get(*field) : Value(Auto{}); }
  static void set(std::optional<T>& field, const Value& value) {
    if (std::holds_alternative<Auto>(value)) return field.reset();
    FieldOption<T>::set(field.emplace(), value);
  }
};

/// What a field holds, if it may also be left to the program.
template <class T>
struct Held {
  using Type = T;
};
template <class T>
struct Held<std::optional<T>> {
  using Type = T;
};

template <class Target>
class Spec {
 public:
  /// An option with what it does to a target.
  struct Bound {
    Option option;
    std::function<void(Target&, const Value&)> set;
    std::function<Value(const Target&)> get;
  };

  /// Options added from here on belong to this group.
  Spec& group(std::string title) {
    group_ = std::move(title);
    return *this;
  }

  template <class Field>
  Spec& add(std::string name, Field field, std::string help) {
    using Type = std::remove_cvref_t<std::invoke_result_t<Field, Target&>>;
    Option option;
    option.name = std::move(name);
    option.group = group_;
    option.help = std::move(help);
    option.type = FieldOption<Type>::kType;
    option.placeholder = std::string(FieldOption<Type>::kPlaceholder);
    using HeldType = typename Held<Type>::Type;
    option.may_be_automatic = !std::is_same_v<Type, HeldType>;
    option.default_value = FieldOption<Type>::get(std::invoke(field, std::as_const(defaults_)));
    if constexpr (NamedEnum<HeldType>) {
      for (const auto& named : Names<HeldType>::kAll)
        option.choices.push_back({std::string(named.name), std::string(named.help)});
    }
    bound_.push_back(
        {std::move(option),
         [field](Target& target, const Value& value) { FieldOption<Type>::set(std::invoke(field, target), value); },
         [field](const Target& target) { return FieldOption<Type>::get(std::invoke(field, target)); }});
    return *this;
  }

  /// An option that is declared elsewhere.
  Spec& add(Bound bound) {
    bound_.push_back(std::move(bound));
    return *this;
  }

  /// All options of a part of the target.
  template <class Part, class Field>
  Spec& include(const Spec<Part>& part, Field field) {
    for (const auto& inner : part.bound()) {
      bound_.push_back(
          {inner.option,
           [set = inner.set, field](Target& target, const Value& value) { set(std::invoke(field, target), value); },
           [get = inner.get, field](const Target& target) { return get(std::invoke(field, target)); }});
      bound_.back().option.default_value = bound_.back().get(defaults_);
    }
    return *this;
  }

  /// The option of this name, which was required, may be left out; what that means, for its help.
  Spec& optional(std::string_view name, const std::string& meaning) {
    for (Bound& bound : bound_) {
      if (bound.option.name != name) continue;
      bound.option.required = false;
      bound.option.help += "; " + meaning;
    }
    return *this;
  }

  // Marks on the option added last.
  Spec& range(double least, double most) {
    last().range = Range{least, most};
    return *this;
  }
  /// Only these values.
  Spec& choices(std::vector<Choice> choices) {
    last().type = OptionType::kChoice;
    last().choices = std::move(choices);
    return *this;
  }
  /// What `auto` means, in words.
  Spec& automatic(std::string meaning) {
    last().automatic = std::move(meaning);
    return *this;
  }
  Spec& placeholder(std::string text) {
    last().placeholder = std::move(text);
    return *this;
  }
  Spec& role(PathRole role) {
    last().role = role;
    if (role == PathRole::kFolder) last().placeholder = "FOLDER";
    return *this;
  }
  Spec& required() {
    last().required = true;
    return *this;
  }
  Spec& positional() {
    last().positional = true;
    return *this;
  }
  Spec& advanced() {
    last().advanced = true;
    return *this;
  }
  /// It only says where to write or how to run.
  Spec& not_part_of_result() {
    last().shapes_result = false;
    return *this;
  }

  const std::vector<Bound>& bound() const { return bound_; }
  std::vector<Option> options() const {
    std::vector<Option> out;
    for (const Bound& bound : bound_) out.push_back(bound.option);
    return out;
  }
  const Bound* find(std::string_view name) const {
    for (const Bound& bound : bound_) {
      if (bound.option.name == name) return &bound;
    }
    return nullptr;
  }

  /// Sets fields by the names of their options. UsageError for unknown names, and for values that will not do.
  void apply(Target& target, const Settings& settings) const {
    for (const auto& [name, value] : settings) {
      const Bound* bound = find(name);
      require(bound != nullptr, "unknown option '" + name + "'");
      check_value(bound->option, value);
      bound->set(target, value);
    }
  }
  /// A target with its defaults but for these settings.
  Target made(const Settings& settings) const {
    Target out;
    apply(out, settings);
    return out;
  }
  /// Name and value of every option that shapes the result.
  Settings settings(const Target& target) const {
    Settings out;
    for (const Bound& bound : bound_) {
      if (bound.option.shapes_result) out[bound.option.name] = bound.get(target);
    }
    return out;
  }

 private:
  Option& last() { return bound_.back().option; }

  std::vector<Bound> bound_;
  std::string group_;
  Target defaults_;
};

}  // namespace ergodic
