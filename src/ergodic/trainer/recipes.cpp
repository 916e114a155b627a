#include "ergodic/trainer/recipes.hpp"

namespace ergodic {

std::span<const TrainRecipe> train_recipes() {
  static const std::vector<TrainRecipe> all{
      {.name = "quick", .help = "a tenth of the updates, for a first look", .share_of_updates = 0.1},
      {.name = kDefaultRecipe, .help = "what is found automatically"},
      {.name = "best",
       .help = "as likely as a long training makes the data",
       .kind = "rbm",
       .real_units = false,
       .values = {{"updates", "100000"}, {"chains", "500"}, {"steps", "5"}}}};
  return all;
}

std::string text_of(const TrainRecipe& recipe) {
  std::string values;
  for (const auto& [name, value] : recipe.values) {
    values += (values.empty() ? ": --" : ", --") + std::string(name) + " " + std::string(value);
  }
  return std::string(recipe.help) + values;
}

}  // namespace ergodic
