#include "ergodic/trainer/completion.hpp"

#include <cassert>
#include <utility>

namespace ergodic {
namespace {

/// Puts the known bits of a row over drawn ones. The row of values may be shorter: what is beyond is not known.
void lay_over(std::span<const std::uint64_t> values, std::span<const std::uint64_t> known,
              std::span<std::uint64_t> drawn) {
  for (std::size_t w = 0; w < values.size(); ++w) drawn[w] = (values[w] & known[w]) | (drawn[w] & ~known[w]);
}

}  // namespace

Completion::Completion(const Dataset& data, State draws) : data_(&data), draws_(std::move(draws)) {
  assert(draws_.chains() == data.rows() && draws_.units() >= data.units());
}

State Completion::gather(std::span<const std::uint32_t> rows, Key key, std::uint64_t epoch, Bits& known) const {
  const Values values = ergodic::gather(*data_, rows, key, epoch);
  Bits known_values(rows.size(), data_->units());
  gather_known(*data_, rows, known_values);
  known = Bits(rows.size(), draws_.units());
  State out = draws_.rows(0, rows.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::ranges::copy(known_values.row(r), known.row(r).begin());
    out.set_row(r, draws_, rows[r]);
    if (!out.real()) {
      lay_over(std::get<Bits>(values).row(r), known.row(r), out.bits().row(r));
      continue;
    }
    const Matrix<float>& reals = std::get<Matrix<float>>(values);
    for (std::size_t i = 0; i < reals.cols(); ++i) {
      if (known.get(r, i)) out.reals()(r, i) = reals(r, i);
    }
  }
  return out;
}

void Completion::keep(std::span<const std::uint32_t> rows, const State& drawn) {
  for (std::size_t r = 0; r < rows.size(); ++r) draws_.set_row(rows[r], drawn, r);
}

}  // namespace ergodic
