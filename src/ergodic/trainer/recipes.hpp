// Recipes: named sets of values for training options, by how much time there is. What is given in another way takes
// precedence over a recipe, and a recipe over what is found automatically.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ergodic {

struct TrainRecipe {
  std::string_view name;
  std::string_view help;
  std::string_view kind = {};     ///< the kind of machine that it is for; empty: all
  bool real_units = true;         ///< whether it is for visible units that are real numbers too
  double share_of_updates = 1.0;  ///< of the automatic number of updates
  std::vector<std::pair<std::string_view, std::string_view>> values = {};  ///< of options, by name, as text

  bool serves(std::string_view of_kind) const { return kind.empty() || kind == of_kind; }
};

/// Recipes of the same name are for different kinds of machine. That of the name kDefaultRecipe sets nothing.
std::span<const TrainRecipe> train_recipes();
inline constexpr char kDefaultRecipe[] = "default";

/// The help of a recipe, and what it sets: "...: --chains 500, --steps 5".
std::string text_of(const TrainRecipe& recipe);

}  // namespace ergodic
