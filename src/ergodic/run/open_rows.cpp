#include "ergodic/run/open_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ergodic/core/error.hpp"
#include "ergodic/core/part_of_whole.hpp"
#include "ergodic/estimator/annealing.hpp"
#include "ergodic/machine/kinds.hpp"
#include "ergodic/machine/pictures.hpp"
#include "ergodic/machine/rows.hpp"
#include "ergodic/run/finite.hpp"

namespace ergodic {
namespace {

constexpr double kExactBits = 14.0;                      // a row may cost so many terms, as a power of two
constexpr std::size_t kBoundedAtATime = 100;             // rows, each a chain
constexpr std::size_t kChains = 16;                      // that anneal a row, in each direction
constexpr std::uint64_t kSweepsBefore = 32;              // at a row: where its path begins, and the backward chains
constexpr std::uint8_t kRowStream = 2, kMaskStream = 3;  // of clamped rows: 0 and 1 are those of ClampedRows
constexpr std::uint64_t kFirstChain = std::uint64_t{1} << 30;  // beyond those of sampling without rows

/// A key for what one row, or rows with one mask, draw.
Key key_of(Key key, std::size_t place, std::uint8_t stream) {
  const Words words = key.at(Purpose::kClamped, place, stream).words(0, 0);
  return {words[0] | (std::uint64_t{words[1]} << 32)};
}

/// log Z of a machine by annealing from means that a few of its own sweeps have.
Estimate annealed(const Machine& machine, std::size_t temperatures, Key key) {
  const Context alone;
  Chains chains = machine.start(kChains, key, alone);
  const auto sampling = machine.sampling({}, alone);
  while (chains.sweep < kSweepsBefore) sampling->sweep(chains, key, alone);
  const State states = machine.visible_of(chains);
  const auto path = machine.path(states, {}, alone);
  Annealer annealer(*path, states, kChains, key, alone);
  return annealer.round(temperatures, alone)->log_z;
}

Estimate log_sum_of(const OpenMachine& open, std::size_t temperatures, Key key) {
  Estimate out = open.machine->exact_bits() <= kExactBits ? *open.machine->exact_log_z({})
                                                          : annealed(*open.machine, temperatures, key);
  for (double* end : {&out.value, &out.lower, &out.upper}) *end -= open.energy;
  return out;
}

/// Rows with the same mask, by the mask.
std::map<std::vector<std::uint64_t>, std::vector<std::size_t>> groups_of(const Bits& known) {
  std::map<std::vector<std::uint64_t>, std::vector<std::size_t>> out;
  for (std::size_t r = 0; r < known.rows(); ++r) {
    out[{known.row(r).begin(), known.row(r).end()}].push_back(r);
  }
  return out;
}

/// So many rows of the same kind.
State blank_like(const State& state, std::size_t rows) {
  return state.real() ? State(Matrix<float>(rows, state.units())) : State(rows, state.units(), state.levels());
}

/// These rows, of which one may come several times.
OpenRows chosen(const OpenRows& open, const std::vector<std::size_t>& rows) {
  OpenRows out{blank_like(open.rows, rows.size()), Bits(open.complete() ? 0 : rows.size(), open.known.cols())};
  for (std::size_t k = 0; k < rows.size(); ++k) {
    out.rows.set_row(k, open.rows, rows[k]);
    if (!open.complete()) std::ranges::copy(open.known.row(rows[k]), out.known.row(k).begin());
  }
  return out;
}

/// Each row so many times.
OpenRows repeated(const OpenRows& open, std::size_t times) {
  std::vector<std::size_t> rows;
  for (std::size_t r = 0; r < open.rows.chains(); ++r) rows.insert(rows.end(), times, r);
  return chosen(open, rows);
}

/// Values that are not known are those of chains that know nothing of the row.
State with_open_drawn(const Machine& machine, const OpenRows& open, Key key, const Context& context) {
  State out = machine.visible_of(machine.start(open.rows.chains(), key, context));
  for (std::size_t r = 0; r < out.chains(); ++r) {
    if (open.complete(r)) {
      out.set_row(r, open.rows, r);
    } else if (out.real()) {
      for_each_set(open.known.row(r), [&](std::size_t i) { out.reals()(r, i) = open.rows.reals()(r, i); });
    } else {
      for_each_set(open.known.row(r), [&](std::size_t i) { out.bits().set(r, i, open.rows.bits().get(r, i)); });
    }
  }
  return out;
}

void add_to(Matrix<double>& sums, const Matrix<float>& values, std::size_t times) {
  for (std::size_t r = 0; r < values.rows(); ++r) {
    for (std::size_t i = 0; i < values.cols(); ++i) sums(r / times, i) += values(r, i);
  }
}

/// The mask of the sampler: a row for each chain if the machine can do that, else the first for all.
Bits fixed_units(const Machine& machine, const OpenRows& open) {
  const bool each = !open.complete() && machine.masks_by_chain();
  Bits visible(each ? open.known.rows() : 1, open.rows.units());
  for (std::size_t r = 0; r < visible.rows(); ++r) {
    for (std::size_t i = 0; i < visible.cols(); ++i) visible.set(r, i, open.complete() || open.known.get(r, i));
  }
  return machine.mask_of(visible);
}

Matrix<float> averaged_values(const Machine& machine, const Chains& chains, const OpenDrawOptions& options,
                              const Context& context) {
  if (options.averaged == Averaged::kVisible) {
    const auto means = machine.means_of(chains, context);
    return means ? *means : plain_values(machine.visible_of(chains));
  }
  if (auto means = machine.hidden_means(machine.visible_of(chains), options.layer, context)) return std::move(*means);
  const auto hidden = machine.hidden_of(chains, options.layer);
  return hidden ? own_values(*hidden) : Matrix<float>();
}

/// Values that are known are not averaged.
void keep_known(const OpenRows& open, Matrix<float>& means) {
  const Matrix<float> given = plain_values(open.rows);
  for (std::size_t r = 0; r < given.rows(); ++r) {
    for (std::size_t i = 0; i < given.cols(); ++i) {
      if (open.complete() || open.known.get(r, i)) means(r, i) = given(r, i);
    }
  }
}

/// Chains of rows that share their mask, or each with its own if the machine can do that.
std::optional<OpenDraws> draw_group(const Machine& machine, const OpenRows& open, const OpenDrawOptions& options,
                                    Key key, const Context& context) {
  const OpenRows each = repeated(open, options.draws);
  if (!machine.masks_by_chain() && open.complete(0)) {  // and so are all others: nothing is left to draw
    const bool shown = options.averaged == Averaged::kVisible;
    return OpenDraws{machine.start_at(each.rows, key, context), shown ? plain_values(open.rows) : Matrix<float>()};
  }
  SamplingOptions sampling;
  sampling.sweeps = options.sweeps;
  sampling.kernel.fixed = fixed_units(machine, each);
  const auto sampler = machine.sampling(sampling, context);
  OpenDraws out{machine.start_at(with_open_drawn(machine, each, key, context), key, context), {}};
  out.chains.first_chain = kFirstChain;
  Matrix<double> sums;  // floats would lose the digits of later sweeps
  std::uint64_t counted = 0;
  while (out.chains.sweep < options.sweeps) {
    if (context.stop_requested()) return std::nullopt;
    sampler->sweep(out.chains, key, context);
    context.progress({out.chains.sweep, options.sweeps});
    if (options.averaged == Averaged::kNothing || 2 * out.chains.sweep < options.sweeps) continue;
    const Matrix<float> values = averaged_values(machine, out.chains, options, context);
    if (counted++ == 0) sums = Matrix<double>(open.rows.chains(), values.cols());
    add_to(sums, values, options.draws);
  }
  out.means = Matrix<float>(sums.rows(), sums.cols());
  const auto count = static_cast<double>(counted * options.draws);
  std::ranges::transform(sums.elements(), out.means.elements().begin(),
                         [&](double sum) { return static_cast<float>(sum / count); });
  if (options.averaged == Averaged::kVisible) keep_known(open, out.means);
  require_finite(out.means.view(), "expected values");
  for (const State& layer : out.chains.layers) require_finite(layer, "draws");
  return out;
}

/// Puts what a group of rows has found where these rows are.
void put_group(OpenDraws& out, const OpenDraws& found, const std::vector<std::size_t>& rows, std::size_t all_rows,
               std::size_t draws) {
  if (out.chains.layers.empty()) {
    for (const State& layer : found.chains.layers) out.chains.layers.push_back(blank_like(layer, all_rows * draws));
    out.chains.sweep = found.chains.sweep;
    if (found.means.rows() > 0) out.means = Matrix<float>(all_rows, found.means.cols());
  }
  for (std::size_t k = 0; k < rows.size(); ++k) {
    for (std::size_t l = 0; l < out.chains.layers.size(); ++l) {
      for (std::size_t d = 0; d < draws; ++d) {
        out.chains.layers[l].set_row(rows[k] * draws + d, found.chains.layers[l], k * draws + d);
      }
    }
    if (found.means.rows() > 0) std::ranges::copy(found.means.row(k), out.means.row(rows[k]).begin());
  }
}

}  // namespace

Matrix<float> own_values(const State& state) {
  Matrix<float> out(state.chains(), state.units());
  for (std::size_t r = 0; r < out.rows(); ++r) {
    for (std::size_t i = 0; i < out.cols(); ++i) out(r, i) = state.value(r, i);
  }
  return out;
}

bool OpenRows::complete(std::size_t row) const {
  if (complete()) return true;
  std::size_t on = 0;
  for (const std::uint64_t word : known.row(row)) on += static_cast<std::size_t>(std::popcount(word));
  return on == known.cols();
}

OpenRows open_rows_of(const Layer& visible, const Dataset& data, Key key) {
  return {all_rows(visible, data, key), data.known};
}

std::optional<std::vector<Estimate>> row_bounds(const Machine& machine, const State& rows, std::size_t draws, Key key,
                                                const std::function<bool(std::size_t)>& more, const Context& context) {
  std::vector<Estimate> out;
  while (out.size() < rows.chains() && (!more || more(out.size()))) {
    const std::size_t count = std::min(kBoundedAtATime, rows.chains() - out.size());
    const auto found = machine.log_sum_bounds(rows.rows(out.size(), count), draws, out.size(), key, context);
    if (!found) return std::nullopt;
    out.insert(out.end(), found->begin(), found->end());
    context.progress({out.size(), rows.chains()});
  }
  return out;
}

bool bounds_rows(const Machine& machine, const State& rows, Key key) {
  const State one = rows.rows(0, 1);
  return machine.log_sum_bounds(one, 1, 0, key, {}) && !machine.free_energies(one, {});
}

std::optional<std::vector<Estimate>> open_log_sums(const Machine& machine, const OpenRows& open,
                                                   std::size_t temperatures, Key key, const Context& context) {
  const std::size_t rows = open.rows.chains();
  std::vector<Estimate> out(rows);
  std::vector<std::size_t> whole, others;
  for (std::size_t r = 0; r < rows; ++r) (open.complete(r) ? whole : others).push_back(r);
  if (!whole.empty()) {
    const State state = chosen({open.rows, {}}, whole).rows;
    if (const auto energies = machine.free_energies(state, context)) {
      for (std::size_t k = 0; k < whole.size(); ++k) out[whole[k]] = exactly(-(*energies)[k]);
    } else if (const auto bounds = row_bounds(machine, state, kRowDraws, key, {}, context)) {
      for (std::size_t k = 0; k < whole.size(); ++k) out[whole[k]] = (*bounds)[k];
    } else {
      if (context.stop_requested()) return std::nullopt;
      others.insert(others.end(), whole.begin(), whole.end());  // hidden units are open
    }
  }
  Bits all_known;
  if (open.complete() && !others.empty()) {
    all_known = Bits(rows, open.rows.units());
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t i = 0; i < all_known.cols(); ++i) all_known.set(r, i, true);
    }
  }
  const Bits& known = open.complete() ? all_known : open.known;
  if (!others.empty()) {
    require(machine.given(open.rows, known, others[0]).has_value(),
            fmt::format("a {} cannot sum over values that are missing; leave such rows out, or fill them in",
                        machine.kind().title));
  }
  const std::size_t at_a_time = 8 * context.thread_count();
  for (std::size_t first = 0; first < others.size(); first += at_a_time) {
    if (context.stop_requested()) return std::nullopt;
    const std::size_t count = std::min(at_a_time, others.size() - first);
    context.for_blocks(count, 1, [&](std::size_t k, std::size_t) {
      const std::size_t row = others[first + k];
      out[row] = log_sum_of(*machine.given(open.rows, known, row), temperatures, key_of(key, row, kRowStream));
    });
    context.progress({first + count, others.size()});
  }
  return out;
}

std::optional<OpenDraws> draw_open(const Machine& machine, const OpenRows& open, const OpenDrawOptions& options,
                                   Key key, const Context& context) {
  const bool one_group = open.complete() || machine.masks_by_chain();
  context.stage({"sampling given what is known", one_group ? "sweeps" : ""});
  if (one_group) return draw_group(machine, open, options, key, context);
  OpenDraws out;
  std::size_t done = 0;  // rows
  const auto all = static_cast<double>(open.rows.chains());
  for (const auto& [mask, rows] : groups_of(open.known)) {
    PartOfWhole part(context, static_cast<double>(done) / all, static_cast<double>(done + rows.size()) / all);
    const Key own = key_of(key, rows[0], kMaskStream);
    const auto found = draw_group(machine, chosen(open, rows), options, own, part.context());
    if (!found) return std::nullopt;
    put_group(out, *found, rows, open.rows.chains(), options.draws);
    done += rows.size();
  }
  return out;
}

}  // namespace ergodic
