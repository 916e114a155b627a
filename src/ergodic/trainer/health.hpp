// What the records of a run say about it: whether it diverges, and whether it should have gone on or stopped before.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ergodic/core/context.hpp"

namespace ergodic {

/// The value of a monitor; nothing if the record has none of this name.
std::optional<double> monitor_in(const Record& record, std::string_view name);

/// What is wrong with a machine that has left what any data could ask for; empty if nothing is. `first` is the record
/// before the first update, when the units were all but independent. A monitor is not finite; or the root of the mean
/// squared weight is beyond 20 (and twice that of the start), since a coupling of w between {0,1} units makes odds of
/// e^w, and 5e8 to 1 is more than rows could show; or it is beyond 10, and the rows have become three times as unlikely
/// as they were for independent units, and 10 nats more; or the labels have, as they were for classes by chance.
std::string why_unsound(const Record& now, const Record& first);
/// The same of parameters: one is not finite, or so large that a file would not be read back.
std::string why_unsound(std::span<const float> parameters);

/// Whether a machine that is sound is also one to go back to: its weights have not grown very large, and rows are not
/// far less likely than for independent units.
bool healthy(const Record& now, const Record& first);

/// Warns of what a machine rarely recovers from; once in a run, of which `before` are the records until now.
void warn_if_unhealthy(const Record& now, std::span<const Record> before, const Context& context);

/// How a likelihood, or pseudo-likelihood, has grown in a run.
struct Improvement {
  std::string_view monitor;
  double begin = 0.0;  ///< before the first update, when units were all but independent
  double all = 0.0;    ///< from the first record to the last, in nats a row
  double late = 0.0;   ///< in the last two thirds of the updates; a falling rate has by then made half of its steps

  /// Whether as many updates again would be well spent.
  bool still_improving() const;
  /// Whether next to nothing was learned: the machine is no better than independent units.
  bool none() const;
};
/// Nothing without such a monitor, or with less than three records.
std::optional<Improvement> improvement_in(std::span<const Record> records);

/// Warns at the end of a run in which rows that were not learned from were likelier before: more than a tenth of what
/// they had gained was lost again.
void warn_if_overfitted(std::span<const Record> records, const Context& context);

}  // namespace ergodic
