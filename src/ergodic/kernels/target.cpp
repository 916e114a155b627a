#include "ergodic/kernels/target.hpp"

#include <hwy/highway.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "ergodic/core/error.hpp"

namespace ergodic {
namespace {

std::int64_t forced_target = 0;  // 0: the best one

std::string name_of_target(std::int64_t target) {
  // Highway's fallback without vectors is where the definition stands.
  if ((target & (HWY_SCALAR | HWY_EMU128)) != 0) return "plain";
  std::string name = hwy::TargetName(target);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

/// Those compiled in that the CPU has, the best first. Asking resets Highway's choice, so ours is made again.
std::vector<std::int64_t> targets() {
  std::vector<std::int64_t> out = hwy::SupportedAndGeneratedTargets();
  if (forced_target != 0) hwy::GetChosenTarget().Update(forced_target);
  return out;
}

}  // namespace

std::vector<std::string> available_targets() {
  std::vector<std::string> out;
  for (const std::int64_t target : targets()) out.push_back(name_of_target(target));
  return out;
}

std::string active_target() { return forced_target != 0 ? name_of_target(forced_target) : available_targets().front(); }

void use_target(std::string_view name) {
  std::string known;
  for (const std::int64_t target : targets()) {
    if (name_of_target(target) == name) {
      forced_target = target;
      hwy::GetChosenTarget().Update(target);
      return;
    }
    known += (known.empty() ? "" : ", ") + name_of_target(target);
  }
  throw UsageError("there is no instruction set '" + std::string(name) + "' here; there are " + known);
}

bool plain_target() { return (forced_target & (HWY_SCALAR | HWY_EMU128)) != 0; }

}  // namespace ergodic
