#include "ergodic/run/commands/train_request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ergodic/core/duration.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/run/commands/data.hpp"
#include "ergodic/run/commands/request.hpp"

namespace ergodic {
namespace {

constexpr char kMachineGroup[] = "Machine";
constexpr double kLeastSeconds = 0.001, kMostSeconds = 1e9;
constexpr std::string_view kLengths[] = {"updates", "epochs", "time"};  // options of which one stands for all
constexpr std::string_view kUpdatesOfStage = "-updates";                // how such options of machines end

std::vector<Choice> kind_choices() {
  std::vector<Choice> out;
  for (const MachineKind* kind : machine_kinds()) out.push_back({std::string(kind->name), std::string(kind->help)});
  return out;
}

/// An option of the kind itself, whose value waits in the request for the machine to be made.
Spec<TrainRequest>::Bound waiting(Option option) {
  return {option, [name = option.name](TrainRequest& request, const Value& value) { request.machine[name] = value; },
          [name = option.name, otherwise = option.default_value](const TrainRequest& request) {
            const auto given = request.machine.find(name);
            return given == request.machine.end() ? otherwise : given->second;
          }};
}

/// What the kind takes where an option says nothing, in words.
void set_default(Option& option, const TrainRule& rule) {
  if (option.name == "batch") option.automatic = rule.batch;
  if (option.name == "updates") option.automatic = rule.updates;
  if (option.name == "learning-rate") option.automatic = rule.learning_rate;
  if (option.name == "steps") option.automatic = rule.steps;
}

void add_training(Spec<TrainRequest>& spec, const MachineKind& kind) {
  Spec<TrainRequest> all;
  all.include(training_spec(), &TrainRequest::training);
  for (auto bound : all.bound()) {
    if (std::ranges::find(kind.training, bound.option.group) == kind.training.end()) continue;
    set_default(bound.option, kind.defaults);
    spec.add(std::move(bound));
  }
}

std::vector<Choice> recipe_choices(const MachineKind& kind) {
  std::vector<Choice> out;
  for (const TrainRecipe& recipe : train_recipes()) {
    if (recipe.serves(kind.name)) out.push_back({std::string(recipe.name), text_of(recipe)});
  }
  return out;
}

/// Whether a value of a recipe for this option would be in the way of what is given.
bool is_given(std::string_view name, const Settings& given) {
  const auto found = [&](std::string_view other) { return given.contains(std::string(other)); };
  return found(name) ||
         (std::ranges::find(kLengths, name) != std::end(kLengths) && std::ranges::any_of(kLengths, found));
}

void add_output(Spec<TrainRequest>& spec, const MachineKind& kind) {
  spec.group("Output")
      .add("out", &TrainRequest::out, "where the trained machine goes")
      .role(PathRole::kOutput)
      .required()
      .not_part_of_result();
  if (!kind.learns()) return;
  spec.add("log", &TrainRequest::log, "a JSON line for each record")
      .role(PathRole::kOutput)
      .not_part_of_result()
      .add("report", &TrainRequest::report, "an HTML page with curves, samples and filters")
      .role(PathRole::kOutput)
      .not_part_of_result();
  if (kind.snapshots) {
    spec.add("trajectory", &TrainRequest::trajectory,
             "folder for snapshots of the machine during training, for --path of `sample`, `evaluate` and `compare`")
        .role(PathRole::kFolder)
        .advanced()
        .not_part_of_result();
  }
  spec.add("checkpoint-every", &TrainRequest::checkpoint_every, "seconds between two checkpoints (beside --out)")
      .range(0.0, 1e9)
      .advanced()
      .not_part_of_result()
      .add("profile", &TrainRequest::profile, "say at the end where the time went")
      .advanced()
      .not_part_of_result()
      .add("no-likelihood", &TrainRequest::no_likelihood,
           "do not spend a tenth of the time on the likelihood at the end")
      .advanced()
      .not_part_of_result()
      .add("resume", &TrainRequest::resume, "go on from the checkpoint beside --out; without one, start")
      .not_part_of_result();
}

/// The defaults of an option by kind of machine: "500; boltzmann 0".
std::string default_of_kinds(const std::vector<std::pair<std::string, std::string>>& defaults) {
  std::string out = defaults[0].second;
  for (const auto& [kind, text] : defaults) {
    if (text != defaults[0].second) out += fmt::format("; {} {}", kind, text);
  }
  return out;
}

}  // namespace

Spec<TrainRequest> train_spec(const MachineKind& kind) {
  Spec<TrainRequest> spec;
  spec.include(data_spec(), &TrainRequest::data);
  if (kind.learns()) {
    spec.group("Data")
        .add(
            "weights", [](auto& r) -> auto& { return r.data.weights; },
            "a file with a weight for each row, not negative: how much it counts, in place of the sequence weights of "
            "an alignment; of a set with a test part of its own, for each row of the training part")
        .role(PathRole::kInput)
        .not_part_of_result()  // the weights shape the result, not where they lie
        .add("held-out", &TrainRequest::held_out, "share of the training rows kept apart for the monitors")
        .range(0.0, 0.9)
        .advanced();
  }
  spec.group(kMachineGroup).add("model", &TrainRequest::model, "the kind of machine").choices(kind_choices());
  for (Option& option : kind.options()) spec.add(waiting(std::move(option)));
  add_training(spec, kind);
  spec.group(kind.learns() ? kLoopGroup : kMachineGroup);
  if (kind.learns()) {
    spec.add("recipe", &TrainRequest::recipe, "values of other options, where neither they nor a config file are given")
        .choices(recipe_choices(kind))
        .not_part_of_result();
    spec.add(
            "time", &TrainRequest::time,
            "the same as a time, as 60s, 5m or 1h30m: a short trial turns it into a number of updates for this machine")
        .placeholder("TIME")
        .automatic("as long as --updates takes");
  }
  add_seed(spec, &TrainRequest::seed);
  add_output(spec, kind);
  return spec;
}

TrainRequest train_request(const MachineKind& kind, const Settings& given) {
  const Spec<TrainRequest> spec = train_spec(kind);
  TrainRequest out;
  out.model = kind.name;
  spec.apply(out, given);
  if (!kind.learns()) return out;
  const TrainRecipe& recipe = *std::ranges::find_if(
      train_recipes(), [&](const TrainRecipe& one) { return one.name == out.recipe && one.serves(kind.name); });
  require(recipe.real_units || kind.values(out.machine) != ValueKind::kReal,
          fmt::format("--recipe {} is for visible units that are two-valued or letters; leave it out", recipe.name));
  Settings values;
  for (const auto& [name, text] : recipe.values) {
    if (is_given(name, given)) continue;
    values[std::string(name)] = parse_value(spec.find(name)->option, std::string(text));
  }
  spec.apply(out, values);
  out.training.share_of_updates = recipe.share_of_updates;
  return out;
}

std::optional<double> seconds_of(const TrainRequest& request) {
  if (!request.time) return std::nullopt;
  const std::optional<double> seconds = seconds_in(*request.time);
  require(seconds && *seconds >= kLeastSeconds && *seconds <= kMostSeconds,
          fmt::format("--time: expected a time as 60s, 5m, 1h30m or a plain number of seconds, from {} to {} seconds; "
                      "found '{}'",
                      kLeastSeconds, kMostSeconds, *request.time));
  require(!request.training.updates && !request.training.epochs,
          "--time, --updates and --epochs each say how long training lasts; give one of them");
  // Stages with a number of updates of their own are part of a whole that must be known.
  for (const auto& [name, value] : request.machine) {
    require(!name.ends_with(kUpdatesOfStage) || value == Value(std::uint64_t{0}),
            fmt::format("--{} is a part of all updates, which --time does not know; give --updates instead", name));
  }
  return seconds;
}

std::vector<Option> train_options_of_all_kinds() {
  struct Merged {
    Option option;
    std::vector<std::pair<std::string, std::string>> defaults;  // by kind
  };
  std::vector<Merged> all;
  for (const MachineKind* kind : machine_kinds()) {
    for (Option& option : train_spec(*kind).options()) {
      auto place = std::ranges::find_if(all, [&](const Merged& m) { return m.option.name == option.name; });
      if (place == all.end()) place = all.insert(all.end(), {option, {}});
      Option& merged = place->option;
      merged.kinds.emplace_back(kind->name);
      place->defaults.emplace_back(kind->name, option.default_text());
      if (merged.range && option.range) {
        merged.range =
            Range{std::min(merged.range->least, option.range->least), std::max(merged.range->most, option.range->most)};
      }
    }
  }
  std::vector<Option> out;
  for (auto& [option, defaults] : all) {
    const std::string text = default_of_kinds(defaults);
    if (text != option.default_text()) {
      option.default_value = Auto{};
      option.automatic = text;
    }
    if (option.kinds.size() == machine_kinds().size()) {
      option.kinds.clear();
    } else if (option.group == kMachineGroup) {
      option.group = fmt::format("{} ({})", kMachineGroup, fmt::join(option.kinds, ", "));
    }
    out.push_back(std::move(option));
  }
  return out;
}

SettingTexts settings_of(const MachineKind& kind, const TrainRequest& request) {
  SettingTexts out;
  for (const auto& [name, value] : train_spec(kind).settings(request)) out[name] = text_of(value);
  return out;
}

}  // namespace ergodic
